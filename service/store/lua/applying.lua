-- What `commit` and `leave` have in common: one step, checked first and written last, so that a refusal
-- or the memory limit leaves nothing behind. Run twice, the second run finds what it expected changed.
--
-- KEYS  1..8 as records.lua says  9 log  10 log index  11 conflicts  12 conflicts by existing text
--       13 conflicts by age  14 rulings  15 unsettled  16 near misses  17 lists of conflicts
--       18.. shards of the checked text, one a tag, then those of each text that moves
-- ARGV  1 revision  2 level  3 split  4 time in seconds, then lists, each behind the number of its items:
--   what must hold
--     ids         id, entry or ''
--     texts       number, state, decision, conflict and SHA-256 of the bytes as read, expired before
--                 (seconds) or 0
--     rulings     pair, what is ruled or ''
--     conflicts   number, status
--     entries     number of an entry that was not reverted
--     unsettled   number of a held text, its void conflict
--     newcomers   next at the look, reindexed at the look, tags, '1' where only an equal text counts,
--                 record of the checked text
--   what changes then
--     new         record, text, metadata or ''                         (at most one; tags as above)
--     closed      conflict, status, the entry that closes it and what follows, or '' (as it is)
--     moves       number, tags where its place in the index changes, record or '', '1' to forget its text
--                 or 'u' where the record says when it changed and was seen
--     ids         id, entry or ''
--     texts       number, text, metadata or ''
--     opened      existing, incoming, rest, ids of both                (at most one)
--     entries     head, body, id, other id or ''
--     reverted    number of an entry
--     rulings     pair, what is ruled or ''
--     settled     number of a held text
--     near        number of the other text, score and time             (at most one)
--     seen        number of a text that was named as a match
--     forgotten   number of a text whose near misses go
--     counters    name, by
-- In records, heads, ids and conflicts, 2^32-1 stands for the number of the new text, 2^32-2 for that of the
-- opened conflict, and 2^32-64+n for that of the n-th entry.
-- Returns {'done', number of the new text or 0, state as looking.lua says, conflict, first entry}, or
--   {'revision', current or false}   {'shards', level, split}   {'changed'}
--   {'exhausted'}   the numbers of this partition are used up
local FEW_NEWCOMERS, NEAR_MISSES = 8, 256
local NEW, OPENED, ENTRIES, ENTRIES_MOST = 4294967295, 4294967294, 4294967232, 4294967264
local FIRST_SHARD = 18
local OPEN, VOID = 'o', 'v'

local function step_keys()
  local keys = main_keys()
  keys.log, keys.log_index, keys.conflicts, keys.by_existing = KEYS[9], KEYS[10], KEYS[11], KEYS[12]
  keys.by_age, keys.rulings, keys.unsettled, keys.near = KEYS[13], KEYS[14], KEYS[15], KEYS[16]
  keys.lists = KEYS[17]
  return keys
end

-- The lists of ARGV, each as a list of items of `width` parts.
local SHAPES = {
  { 'is_ids', 2 }, { 'is_texts', 3 }, { 'is_rulings', 2 }, { 'is_conflicts', 2 }, { 'is_entries', 1 },
  { 'is_unsettled', 2 }, { 'newcomers', 5 }, { 'new', 3 }, { 'closed', 3 }, { 'moves', 4 }, { 'ids', 2 },
  { 'texts', 3 }, { 'opened', 5 }, { 'entries', 4 }, { 'reverted', 1 }, { 'rulings', 2 }, { 'settled', 1 },
  { 'near', 2 }, { 'seen', 1 }, { 'forgotten', 1 }, { 'counters', 2 },
}
local function read_step()
  local step, at = {}, 5
  for _, shape in ipairs(SHAPES) do
    local items, count = {}, tonumber(ARGV[at])
    at = at + 1
    for item = 1, count do
      items[item] = { unpack(ARGV, at, at + shape[2] - 1) }
      at = at + shape[2]
    end
    step[shape[1]] = items
  end
  return step
end

-- Whether a text that was registered since the look stands in a bucket; numbers rise, it is last.
local function holds_newcomer(keys, tags, band, next_at_look)
  local tag = tag_at(tags, band)
  local entry = redis.call('HGET', KEYS[FIRST_SHARD + band - 1], tag)
  local list = members_of(entry, keys.wide, band, tag)
  return list ~= '' and u32(list, #list - 3) >= next_at_look
end

-- Whether one shares a band. A few newcomers are compared one by one, which is cheaper than to read
-- all buckets again.
local function shares_band_with_newcomer(keys, tags, record, next_at_look, following)
  local bands = #tags / 4 - 1
  if following - next_at_look > FEW_NEWCOMERS then
    for band = 1, bands do
      if holds_newcomer(keys, tags, band, next_at_look) then return true end
    end
    return false
  end
  local own = following > next_at_look and bands_of(record, bands)
  for newcomer = next_at_look, following - 1 do
    local other = redis.call('HGET', keys.documents, pack32(newcomer))
    if other and is_indexed(other) then
      for band, value in ipairs(bands_of(other, bands)) do
        if own[band] == value then return true end
      end
    end
  end
  return false
end

local function has_newcomer(keys, told, now)
  local next_at_look, tags, following = tonumber(told[1]), told[3], tonumber(now[2])
  if (now[7] or '0') ~= told[2] then return true end
  if following == next_at_look then return false end
  if holds_newcomer(keys, tags, #tags / 4, next_at_look) then return true end
  return told[4] ~= '1'
    and shares_band_with_newcomer(keys, tags, told[5], next_at_look, following)
end

local function as_expected(keys, step, now)
  for _, item in ipairs(step.is_ids) do
    if (redis.call('HGET', keys.ids, item[1]) or '') ~= item[2] then return false end
  end
  for _, item in ipairs(step.is_texts) do
    local record, cutoff = redis.call('HGET', keys.documents, item[1]), tonumber(item[3])
    local stands = record
      and state_of(record) .. string.sub(record, 106, 113) .. string.sub(record, 39, 70)
    if stands ~= item[2] then return false end
    if cutoff > 0 and not has_expired(record, cutoff) then return false end
  end
  for _, move in ipairs(step.moves) do
    -- What comes back needs its words: they may have been erased since.
    local comes_back = move[3] ~= '' and is_indexed(move[3])
    if comes_back and redis.call('HEXISTS', keys.texts, move[1]) == 0 then return false end
  end
  for _, item in ipairs(step.is_rulings) do
    if (redis.call('HGET', keys.rulings, item[1]) or '') ~= item[2] then return false end
  end
  for _, item in ipairs(step.is_conflicts) do
    local conflict = redis.call('HGET', keys.conflicts, item[1])
    if not conflict or string.sub(conflict, 1, 1) ~= item[2] then return false end
  end
  for _, item in ipairs(step.is_entries) do
    local entry = redis.call('HGET', keys.log, item[1])
    if not entry or string.sub(entry, 8, 8) ~= '\0' then return false end
  end
  for _, item in ipairs(step.is_unsettled) do
    if redis.call('HGET', keys.unsettled, item[1]) ~= item[2] then return false end
  end
  for _, told in ipairs(step.newcomers) do
    if has_newcomer(keys, told, now) then return false end
  end
  return true
end

local function apply_step()
  local keys = step_keys()
  local now = redis.call(
    'HMGET', keys.settings, 'revision', 'next', 'level', 'split', 'indexed', 'unsettled', 'reindexed',
    'oldest', 'rulings', 'logged', 'conflicts')
  if now[1] ~= ARGV[1] then return { 'revision', now[1] } end
  local level, split = tonumber(now[3]), tonumber(now[4])
  local step, seconds = read_step(), tonumber(ARGV[4])
  local tags = step.newcomers[1] and step.newcomers[1][3] or ''
  local shards_as_told = shards_hold(tags, level, split, tonumber(ARGV[2]), tonumber(ARGV[3]))
  for _, move in ipairs(step.moves) do
    shards_as_told = shards_as_told
      and shards_hold(move[2], level, split, tonumber(ARGV[2]), tonumber(ARGV[3]))
  end
  if not shards_as_told then return { 'shards', level, split } end
  local number = tonumber(now[2])
  if step.new[1] and number > MOST_NUMBERS then return { 'exhausted' } end
  if not as_expected(keys, step, now) then return { 'changed' } end

  -- From here on it writes.
  local conflict, first_entry = tonumber(now[11] or 0) + 1, tonumber(now[10] or 0) + 1
  local by = {}
  local function count(name, amount) by[name] = (by[name] or 0) + amount end

  local function meant(packed)
    local value = u32(packed)
    if value == NEW then return pack32(number) end
    if value == OPENED then return pack32(conflict) end
    if value >= ENTRIES and value < ENTRIES_MOST then
      return pack32(first_entry + value - ENTRIES)
    end
    return packed
  end

  -- A record with the numbers that only this step knows. Its last four bytes are the `updated` entry,
  -- where it has superseded a text (the first bit of the byte behind its lengths).
  local function record_of(written)
    local record = string.sub(written, 1, 9) .. meant(string.sub(written, 10, 13))
      .. string.sub(written, 14, 105) .. meant(string.sub(written, 106, 109))
      .. meant(string.sub(written, 110, 113)) .. string.sub(written, 114)
    if string.byte(written, 120) % 2 == 1 then
      record = string.sub(record, 1, -5) .. meant(string.sub(record, -4))
    end
    return record
  end

  local function list(written, packed)
    for _, place in ipairs(places_of(written, packed)) do redis.call('ZADD', keys.lists, 0, place) end
  end

  local function close(packed, status, rest)
    local written = redis.call('HGET', keys.conflicts, packed)
    if not written then return nil end
    local was = string.sub(written, 1, 1)
    if was == status then return nil end
    local existing = string.sub(written, 2, 5)
    for _, place in ipairs(places_of(written, packed)) do redis.call('ZREM', keys.lists, place) end
    if rest ~= '' then
      written = string.sub(written, 1, 25) .. meant(string.sub(rest, 1, 4)) .. string.sub(rest, 5)
    end
    written = status .. string.sub(written, 2)
    redis.call('HSET', keys.conflicts, packed, written)
    list(written, packed)
    if status == OPEN then
      redis.call('ZADD', keys.by_existing, 0, existing .. packed)
      redis.call('ZADD', keys.by_age, u32(packed), packed)
    else
      redis.call('ZREM', keys.by_existing, existing .. packed)
      redis.call('ZADD', keys.by_age, -(first_entry + #step.entries - 1), packed)
    end
    count('conflicts:' .. was, -1)
    count('conflicts:' .. status, 1)
    return string.sub(written, 6, 9)
  end

  -- A text leaves the index: its open conflicts are void, and what was held by it waits to be checked
  -- anew.
  local function leave_conflicts(text, record)
    local edges = redis.call('ZRANGEBYLEX', keys.by_existing, '[' .. text, '[' .. text .. '\255\255\255\255')
    for _, edge in ipairs(edges) do
      local packed = string.sub(edge, 5)
      local incoming = close(packed, VOID, '')
      local held = incoming and redis.call('HGET', keys.documents, incoming)
      if held and state_of(held) == HELD then
        redis.call('HSET', keys.unsettled, incoming, packed)
        redis.call('HINCRBY', keys.settings, 'unsettled', 1)
      end
    end
    local own = conflict_of(record)
    local written = u32(own) > 0 and redis.call('HGET', keys.conflicts, own)
    if written and string.sub(written, 1, 1) == OPEN then close(own, VOID, '') end
    if redis.call('HDEL', keys.unsettled, text) == 1 then
      redis.call('HINCRBY', keys.settings, 'unsettled', -1)
    end
  end

  if step.new[1] then
    put_text(keys, {
      number = number, tags = tags, record = record_of(step.new[1][1]), text = step.new[1][2],
      metadata = step.new[1][3],
    }, FIRST_SHARD)
  end
  for _, item in ipairs(step.closed) do close(item[1], item[2], item[3]) end

  local next_shard = FIRST_SHARD + #tags / 4
  for _, move in ipairs(step.moves) do
    local text, its_tags, written, forget = move[1], move[2], move[3], move[4] == '1'
    local was = redis.call('HGET', keys.documents, text)
    local record = written ~= '' and record_of(written)
    local before, after = is_indexed(was), record and is_indexed(record)
    if record then
      -- When it was last changed and seen is as it stands, not as it was read.
      if move[4] ~= 'u' then
        record = string.sub(record, 1, 28) .. string.sub(was, 29, 38) .. string.sub(record, 39)
      end
      redis.call('HSET', keys.documents, text, record)
    else
      redis.call('HDEL', keys.documents, text)
    end
    if before and not after then
      for band = 1, #its_tags / 4 do
        take_from_bucket(KEYS[next_shard + band - 1], keys.wide, band, tag_at(its_tags, band), text)
      end
      redis.call('HINCRBY', keys.settings, 'indexed', -1)
      leave_conflicts(text, was)
    elseif after and not before then
      index(keys, text, its_tags, next_shard)
      redis.call('HINCRBY', keys.settings, 'reindexed', 1)
    end
    next_shard = next_shard + #its_tags / 4
    if state_of(was) == DROPPED then redis.call('ZREM', keys.twins, survivor_of(was) .. text) end
    if record and state_of(record) == DROPPED then
      redis.call('ZADD', keys.twins, 0, survivor_of(record) .. text)
    end
    if forget then
      redis.call('HDEL', keys.texts, text)
      redis.call('HDEL', keys.metadata, text)
    end
  end

  for _, item in ipairs(step.ids) do
    if item[2] == '' then
      redis.call('HDEL', keys.ids, item[1])
    else
      local main, pending = meant(item[2]), #item[2] > 4 and meant(string.sub(item[2], 5)) or ''
      redis.call('HSET', keys.ids, item[1], string.sub(main, 1, 4) .. pending)
    end
  end
  for _, item in ipairs(step.texts) do
    redis.call('HSET', keys.texts, item[1], item[2])
    if item[3] ~= '' then redis.call('HSET', keys.metadata, item[1], item[3]) end
  end

  if step.opened[1] then
    local existing, incoming = meant(step.opened[1][1]), meant(step.opened[1][2])
    local packed = pack32(conflict)
    local written = OPEN .. existing .. incoming .. step.opened[1][3]
    redis.call('HSET', keys.conflicts, packed, written)
    list(written, packed)
    redis.call('ZADD', keys.by_existing, 0, existing .. packed)
    redis.call('ZADD', keys.by_age, conflict, packed)
    for place = 4, 5 do
      redis.call('ZADD', keys.log_index, 0, conflict_name(step.opened[1][place]) .. packed)
    end
    redis.call('HSET', keys.settings, 'conflicts', conflict)
    count('conflicts:' .. OPEN, 1)
  end

  for at, item in ipairs(step.entries) do
    local packed, head = pack32(first_entry + at - 1), item[1]
    local numbers = {}
    for place = 9, 25, 4 do numbers[#numbers + 1] = meant(string.sub(head, place, place + 3)) end
    redis.call('HSET', keys.log, packed, string.sub(head, 1, 8) .. table.concat(numbers) .. item[2])
    for place = 3, 4 do
      if item[place] ~= '' then
        redis.call('ZADD', keys.log_index, 0, entry_name(item[place]) .. packed)
      end
    end
  end
  if step.entries[1] then
    redis.call('HSET', keys.settings, 'logged', first_entry + #step.entries - 1)
    if not now[8] then
      redis.call('HSET', keys.settings, 'oldest', seconds, 'trimmed', first_entry - 1)
    end
  end
  for _, item in ipairs(step.reverted) do
    local entry = redis.call('HGET', keys.log, item[1])
    redis.call('HSET', keys.log, item[1], string.sub(entry, 1, 7) .. '\1' .. string.sub(entry, 9))
  end

  for _, item in ipairs(step.rulings) do
    if item[2] == '' then
      redis.call('HDEL', keys.rulings, item[1])
    else
      redis.call('HSET', keys.rulings, item[1], item[2])
    end
    redis.call('HSET', keys.settings, 'rulings', 1)
  end
  for _, item in ipairs(step.settled) do
    if redis.call('HDEL', keys.unsettled, item[1]) == 1 then
      redis.call('HINCRBY', keys.settings, 'unsettled', -1)
    end
  end
  for _, item in ipairs(step.near) do
    local place = redis.call('HINCRBY', keys.settings, 'near', 1) % NEAR_MISSES
    redis.call('HSET', keys.near, place, item[1] .. pack32(number) .. item[2])
  end
  if step.forgotten[1] then
    local all, gone = redis.call('HGETALL', keys.near), {}
    for _, item in ipairs(step.forgotten) do gone[item[1]] = true end
    for at = 1, #all, 2 do
      local one, other = string.sub(all[at + 1], 1, 4), string.sub(all[at + 1], 5, 8)
      if gone[one] or gone[other] then redis.call('HDEL', keys.near, all[at]) end
    end
  end
  for _, item in ipairs(step.seen) do keep_alive(keys.documents, item[1], seconds) end
  for _, item in ipairs(step.counters) do count(item[1], tonumber(item[2])) end
  if next(by) then raise(keys.counters, by) end
  local after = redis.call(
    'HMGET', keys.settings, 'level', 'split', 'indexed', 'unsettled', 'reindexed', 'oldest', 'rulings')
  return { 'done', step.new[1] and number or 0, after, conflict, first_entry }
end
