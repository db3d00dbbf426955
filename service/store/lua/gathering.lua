-- What `gather`, `gather_open` and `piece` have in common: pieces of published transactions are applied to one
-- partition of a collection that has several, then it is read, all of it at one instant.
--
-- KEYS  1 settings  2 applied transactions  3 wide buckets
--       of home: 4 transactions that are not done  5 unsettled  6 redo log
--       then what the questions and writes name by its place, then shards
-- ARGV  1 level  2 split  3 tags of texts  4 place before their shards, one a tag  5 '1' for home
--       6 how many of its tags each text has here  7.. what is carried, as piecing.lua says (0, 0, 0: nothing)
--       then questions: kind, place of its key, how many arguments, arguments
--         'f' fields of a hash   'a' all of a hash   'l' members between two, how many
--         'r' members by score, the highest first: most, least, how many   'd' fields drawn at random: how many
-- Returns {'gone'}, {'shards', level, split}, or {'read', {level, split, indexed}, home or false, buckets,
--   an answer for each question}
--     home     {revision, last transaction, {those that are not done}, age of the oldest in milliseconds,
--              unsettled, time of the oldest entry, whether anything was ever ruled}
--     buckets  numbers, how many more it holds; for each tag
local A_MILLISECOND = 64 -- so many numbers a transaction may have in one (publishing.lua)
local function home_state(told)
  local unfinished, age = redis.call('ZRANGE', KEYS[4], 0, -1), 0
  for at, number in ipairs(unfinished) do unfinished[at] = tonumber(number) end
  if unfinished[1] then
    local clock = redis.call('TIME')
    local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
    age = now - math.floor(unfinished[1] / A_MILLISECOND)
  end
  return { told[1], tonumber(told[5] or 0), unfinished, age, redis.call('HLEN', KEYS[5]), told[6], told[7] }
end

local ANSWERS = {
  f = function(key, first, last) return redis.call('HMGET', key, unpack(ARGV, first, last)) end,
  a = function(key) return redis.call('HGETALL', key) end,
  l = function(key, first)
    return redis.call('ZRANGEBYLEX', key, ARGV[first], ARGV[first + 1], 'LIMIT', 0, ARGV[first + 2])
  end,
  r = function(key, first)
    return redis.call('ZREVRANGEBYSCORE', key, ARGV[first], ARGV[first + 1], 'LIMIT', 0, ARGV[first + 2])
  end,
  d = function(key, first) return redis.call('HRANDFIELD', key, ARGV[first], 'WITHVALUES') end,
}

-- Whether the shards of all texts are still the right ones.
local function all_hold(tags, bands, level, split)
  local told_level, told_split, size = tonumber(ARGV[1]), tonumber(ARGV[2]), bands * 4
  for text = 1, size > 0 and #tags / size or 0 do
    local own = string.sub(tags, (text - 1) * size + 1, text * size)
    if not shards_hold(own, level, split, told_level, told_split) then return false end
  end
  return true
end

-- `carried` applies what the arguments from the seventh on carry; how many texts are indexed then, and where
-- they go on; nil where shards are others by now.
local function gathered(carried)
  local told = redis.call(
    'HMGET', KEYS[1], 'revision', 'level', 'split', 'indexed', 'transactions', 'oldest', 'rulings', 'done')
  if not told[1] then return { 'gone' } end
  local level, split, tags, bands = tonumber(told[2]), tonumber(told[3]), ARGV[3], tonumber(ARGV[6])
  local indexed, at = nil, nil
  if all_hold(tags, bands, level, split) then indexed, at = carried(level, split, tonumber(told[4] or 0), tonumber(told[8] or 0)) end
  if not indexed then return { 'shards', level, split } end

  local before_shards, buckets = tonumber(ARGV[4]), {}
  for place = 1, #tags / 4 do
    local tag = tag_at(tags, place)
    local entry = redis.call('HGET', KEYS[before_shards + place], tag)
    local numbers, more = members_of(entry, KEYS[3], (place - 1) % bands + 1, tag)
    buckets[place * 2 - 1], buckets[place * 2] = numbers, more
  end
  local reply = {
    'read', { level, split, indexed }, ARGV[5] == '1' and home_state(told), buckets,
  }
  while at <= #ARGV do
    local count = tonumber(ARGV[at + 2])
    reply[#reply + 1] = ANSWERS[ARGV[at]](KEYS[tonumber(ARGV[at + 1])], at + 3, at + 2 + count)
    at = at + 3 + count
  end
  return reply
end
