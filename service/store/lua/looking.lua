-- What `look` and `check` have in common: what the store knows of a text, at one instant.
--
-- ARGV  1 revision  2 level  3 split  4 id  5 SHA-256 of the bytes and of the normalised text
--       6 tags  7 shingles  8 threshold  9 most texts  10 most candidates
--       11 what was last seen before this has expired (seconds, 0: nothing does)
-- Returns
--   {'revision', current or false}      the settings changed, or the collection is gone
--   {'shards', level, split}            the index has grown: other shards
--   {'known', number, record, metadata, anchor's number and record or false, false, standing}
--                                       same id, same bytes, and what that rests on is there
--   {'seen', next, state, old, exact, candidates, cut, expired, standing}
--       state       {level, split, indexed, unsettled, reindexed, oldest, rulings} of the collection
--       old         {number, record, text, anchor's number and record or false, false} of this id,
--                   unless it has expired, or {}
--       standing    {number, record, …}: the main and the pending text of this id, as they are
--       (the anchor is the text that a dropped one rests on)
--       exact       {number, record} of the oldest other text with this hash, an active one first,
--                   or {}
--       candidates  {number, record, text or false, metadata or false, …}, most shared buckets first
--       expired     {number, record, …}: a few that may be taken out
local MOST_PROBED = 256
local SWEPT_AT_ONCE, MOST_EXPIRED = 8, 4
local FIRST_LOOKED = 9 -- of KEYS, where the shards begin

local function look_at(keys)
  local tags, size, threshold = ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
  local most_texts, most_candidates = tonumber(ARGV[9]), tonumber(ARGV[10])
  local cutoff = tonumber(ARGV[11])
  local bands, documents = #tags / 4 - 1, keys.documents

  local now = redis.call(
    'HMGET', keys.settings, 'revision', 'next', 'level', 'split', 'indexed', 'unsettled', 'reindexed',
    'oldest', 'rulings')
  if now[1] ~= ARGV[1] then return { 'revision', now[1] } end
  local level, split = tonumber(now[3]), tonumber(now[4])
  if not shards_hold(tags, level, split, tonumber(ARGV[2]), tonumber(ARGV[3])) then
    return { 'shards', level, split }
  end

  local entry = redis.call('HGET', keys.ids, ARGV[4])
  local own, standing, old = entry and string.sub(entry, 1, 4), {}, {}
  local pending = entry and #entry > 4 and string.sub(entry, 5)
  if own then
    for _, number in ipairs({ own, pending or nil }) do
      local record = redis.call('HGET', documents, number)
      standing[#standing + 1], standing[#standing + 2] = number, record
    end
    for at = #standing, 2, -2 do
      local number, record = standing[at - 1], standing[at]
      if not has_expired(record, cutoff) then
        local anchor_number, anchor = rests_on(documents, record, cutoff)
        local stands = state_of(record) ~= DROPPED or anchor
        if stands and hashes_of(record) == ARGV[5] then
          return { 'known', number, record, redis.call('HGET', keys.metadata, number),
            anchor_number or false, anchor or false, standing }
        end
        if at == 2 then
          old = { number, record, redis.call('HGET', keys.texts, number),
            anchor_number or false, anchor or false }
        end
      end
    end
  end

  -- A few at random at each look, as the server does with keys of its own: what has expired is found
  -- in time without an index of times. What stood under this id is among them where it has expired.
  local function sweep()
    local expired = {}
    if cutoff == 0 then return expired end
    local drawn = redis.call('HRANDFIELD', documents, SWEPT_AT_ONCE, 'WITHVALUES')
    for at = 1, #drawn, 2 do
      -- What stands under no id any more is its log entry's.
      local gone = drawn[at] ~= own and has_expired(drawn[at + 1], cutoff)
        and string.sub(redis.call('HGET', keys.ids, id_of(drawn[at + 1])) or '', 1, 4) == drawn[at]
      if gone and #expired < MOST_EXPIRED * 2 then
        expired[#expired + 1], expired[#expired + 2] = drawn[at], drawn[at + 1]
      end
    end
    if own and not old[1] then
      expired[#expired + 1], expired[#expired + 2] = own, redis.call('HGET', documents, own)
    end
    return expired
  end

  local function seen(exact, candidates, cut)
    return { 'seen', now[2],
      { level, split, now[5], now[6], now[7], now[8], now[9] },
      old, exact, candidates, cut, sweep(), standing }
  end

  local function bucket(band)
    local tag = tag_at(tags, band)
    local entry = redis.call('HGET', KEYS[FIRST_LOOKED + band - 1], tag)
    return members_of(entry, keys.wide, band, tag)
  end

  local normalised = string.sub(ARGV[5], 33)
  local same, held = bucket(bands + 1), false
  for at = 1, #same, 4 do
    local number = string.sub(same, at, at + 3)
    local record = number ~= own and number ~= pending and redis.call('HGET', documents, number)
    -- A tag is four bytes of the hash: the record has all of it.
    local equal = record and string.sub(hashes_of(record), 33) == normalised
    if equal and state_of(record) == HELD then
      held = held or { number, record }
    elseif equal and not has_expired(record, cutoff) then
      return seen({ number, record }, {}, 0)
    end
  end
  if held then return seen(held, {}, 0) end

  local shared, found, cut = {}, {}, 0
  for band = 1, bands do
    local list, unlisted = bucket(band)
    if unlisted > 0 then cut = 1 end
    for at = 1, #list, 4 do
      local number = string.sub(list, at, at + 3)
      local so_far = shared[number]
      if so_far then
        shared[number] = so_far + 1
      else
        shared[number] = 1
        found[#found + 1] = number
      end
    end
  end
  if own then shared[own] = nil end
  if pending then shared[pending] = nil end

  -- Most shared buckets first, older before newer: by counting, as a sort would cost more than all the rest.
  local by_count = {}
  for _, number in ipairs(found) do
    local count = shared[number]
    if count then
      local alike = by_count[count]
      if alike then alike[#alike + 1] = number else by_count[count] = { number } end
    end
  end

  local candidates, taken, probed = {}, 0, 0
  for count = bands, 1, -1 do
    for _, number in ipairs(by_count[count] or {}) do
      if taken == most_candidates or probed == MOST_PROBED then
        return seen({}, candidates, 1)
      end
      probed = probed + 1
      local record = redis.call('HGET', documents, number)
      local other = u32(record, 2)
      -- Sets of such different sizes cannot reach the threshold (1e-9: rounding never decides).
      local in_reach = math.min(size, other) >= math.max(size, other) * (threshold - 1e-9)
      if in_reach and not has_expired(record, cutoff) then
        taken = taken + 1
        candidates[#candidates + 1] = number
        candidates[#candidates + 1] = record
        local fetched = taken <= most_texts
        candidates[#candidates + 1] = fetched and redis.call('HGET', keys.texts, number)
        candidates[#candidates + 1] = fetched and redis.call('HGET', keys.metadata, number)
      end
    end
  end
  return seen({}, candidates, cut)
end
