-- What `gather_open` and `piece` have in common: pieces, which are what published transactions write to one
-- partition. Each is applied once: what comes again is passed over.
--
-- KEYS  2 applied transactions  3 wide buckets; of home: 4 transactions that are not done  6 redo log
-- ARGV  7 all below this are done  8 how many pieces; each: number of its transaction
--       how many texts come or go, each: '+' or '-', number, tags, place before their shards, one a tag
--         '=': into the buckets that lack it, '~': out of those that list it
--       how many writes, each: kind, place of its key, two arguments
--         'h' field, value   'x' field, '' (goes)   'i' field, by   'z' member, score
--         'y' member, '' (goes)
--         'r' number, record whose times are as they stand   's' number, last seen (seconds)
--         'u' number, when it changed   'v' number of an entry that is taken back, ''
--         'c' number, conflict or '' (goes); the key behind its own is that of the lists of conflicts
--         'n' '', near miss   'f' '', numbers whose near misses go
--       then how many transactions are done, their numbers
local NEAR_MISSES = 256
local FORGOTTEN_AT_ONCE = 3200 -- the numbers of 50 milliseconds
local A_TEXT, A_WRITE = 4, 4

-- Where a record or an entry has left by now there is nothing to change in it.
local function changed(key, field, first, value)
  local was = redis.call('HGET', key, field)
  if not was then return end
  redis.call('HSET', key, field, string.sub(was, 1, first - 1) .. value .. string.sub(was, first + #value))
end

local WRITES = {
  h = function(key, field, value) redis.call('HSET', key, field, value) end,
  c = function(key, field, written, lists)
    local was = redis.call('HGET', key, field)
    if was then
      for _, listed in ipairs(places_of(was, field)) do redis.call('ZREM', lists, listed) end
    end
    if written == '' then
      redis.call('HDEL', key, field)
      return
    end
    redis.call('HSET', key, field, written)
    for _, listed in ipairs(places_of(written, field)) do redis.call('ZADD', lists, 0, listed) end
  end,
  i = function(key, field, by) redis.call('HINCRBY', key, field, by) end,
  x = function(key, field) redis.call('HDEL', key, field) end,
  z = function(key, member, score) redis.call('ZADD', key, score, member) end,
  y = function(key, member) redis.call('ZREM', key, member) end,
  r = function(key, field, record)
    local was = redis.call('HGET', key, field)
    if was then record = string.sub(record, 1, 28) .. string.sub(was, 29, 38) .. string.sub(record, 39) end
    redis.call('HSET', key, field, record)
  end,
  s = function(key, field, seconds)
    local was = redis.call('HGET', key, field)
    if was and u32(was, 35) < tonumber(seconds) then
      redis.call('HSET', key, field, with_seen(was, tonumber(seconds)))
    end
  end,
  u = function(key, field, time) changed(key, field, 29, time) end,
  v = function(key, field) changed(key, field, 8, '\1') end,
  n = function(key, _, miss)
    redis.call('HSET', key, redis.call('HINCRBY', KEYS[1], 'near', 1) % NEAR_MISSES, miss)
  end,
  f = function(key, _, numbers)
    local gone, all = {}, redis.call('HGETALL', key)
    for place = 1, #numbers, 4 do gone[string.sub(numbers, place, place + 3)] = true end
    for place = 1, #all, 2 do
      local one, other = string.sub(all[place + 1], 1, 4), string.sub(all[place + 1], 5, 8)
      if gone[one] or gone[other] then redis.call('HDEL', key, all[place]) end
    end
  end,
}

-- The pieces from a place of the arguments on, and where the arguments go on; nil where the shards of one are
-- others by now.
local function read_pieces(at, level, split)
  local pieces = {}
  for item = 1, tonumber(ARGV[at + 1]) do
    local start = at + 2
    if item > 1 then start = pieces[item - 1].stop end
    local piece = { number = ARGV[start], texts = tonumber(ARGV[start + 1]), at = start + 2 }
    for text = 0, piece.texts - 1 do
      local tags = ARGV[piece.at + text * A_TEXT + 2]
      if not shards_hold(tags, level, split, tonumber(ARGV[1]), tonumber(ARGV[2])) then return nil end
    end
    local writes = piece.at + piece.texts * A_TEXT
    piece.stop = writes + 1 + tonumber(ARGV[writes]) * A_WRITE
    pieces[item] = piece
  end
  return pieces, #pieces > 0 and pieces[#pieces].stop or at + 2
end

-- What repair mends of a text's buckets here; how many texts more the partition holds then: it had all of
-- them or none, as they come and go in one script.
local function mend(sign, number, tags, shard)
  local had = false
  for band = 1, #tags / 4 do
    local key, tag = KEYS[shard + band], tag_at(tags, band)
    local numbers, more = members_of(redis.call('HGET', key, tag), KEYS[3], band, tag)
    local is_listed = without(numbers, number) ~= nil
    had = had or is_listed
    if sign == '~' and is_listed then take_from_bucket(key, KEYS[3], band, tag, number) end
    if sign == '=' and not is_listed and more == 0 then add_to_bucket(key, KEYS[3], band, tag, number) end
  end
  if sign == '~' then return had and -1 or 0 end
  return had and 0 or 1
end

local function come_or_go(sign, number, tags, shard)
  local change = sign == '+' and add_to_bucket or take_from_bucket
  for band = 1, #tags / 4 do
    change(KEYS[shard + band], KEYS[3], band, tag_at(tags, band), number)
  end
  return sign == '+' and 1 or -1
end

-- Applies them; how many texts are indexed then.
local function apply_pieces(pieces, floor, done, indexed)
  for _, piece in ipairs(pieces) do
    if tonumber(piece.number) >= done and redis.call('ZADD', KEYS[2], 'NX', piece.number, piece.number) == 1 then
      local at = piece.at
      for _ = 1, piece.texts do
        local sign, number, tags, shard = ARGV[at], ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3])
        local mends = sign == '=' or sign == '~'
        local more = (mends and mend or come_or_go)(sign, number, tags, shard)
        indexed = redis.call('HINCRBY', KEYS[1], 'indexed', more)
        at = at + A_TEXT
      end
      for place = at + 1, piece.stop - 1, A_WRITE do
        local key = tonumber(ARGV[place + 1])
        WRITES[ARGV[place]](KEYS[key], ARGV[place + 2], ARGV[place + 3], KEYS[key + 1])
      end
    end
  end
  if pieces[1] and floor >= done + FORGOTTEN_AT_ONCE then
    local below = string.format('%.0f', floor)
    redis.call('HSET', KEYS[1], 'done', below)
    redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. below)
  end
  return indexed
end

-- Applies what the arguments from the seventh on carry, and takes what is done out of the redo log.
local function apply_carried(level, split, indexed, floor)
  local pieces, at = read_pieces(7, level, split)
  if not pieces then return nil end
  indexed = apply_pieces(pieces, tonumber(ARGV[7]), floor, indexed)
  local done = tonumber(ARGV[at])
  if done > 0 then
    redis.call('ZREM', KEYS[4], unpack(ARGV, at + 1, at + done))
    redis.call('HDEL', KEYS[6], unpack(ARGV, at + 1, at + done))
  end
  return indexed, at + 1 + done
end
