#!lua flags=allow-oom
-- piece: applies what a published transaction writes to one partition, once: whoever comes later is passed
-- over. At the memory limit too: it was admitted before it was published. That of home comes last: with it the
-- transaction is done, and leaves the redo log.
--
-- KEYS  1 settings  2 applied transactions; at home: those that are not done  3 wide buckets  4.. what the
--       writes name by its place  then the shards of each text that comes or goes, one a tag
-- ARGV  1 number of the transaction  2 all below are done  3 level  4 split  5 how many keys are not shards
--       6 place of the unsettled texts, or 0  7 at home the place of the redo log, or 0
--       8 how many texts come or go; for each: '+' or '-', number, tags
--       then the writes, each: kind, place of its key, two arguments
--         'h' field, value   'x' field, '' (goes)   'z' member, score   'y' member, '' (goes)
--         'r' number, record whose times are as they stand   's' number, last seen (seconds)
--         'u' number, when it changed   'v' number of an entry that is taken back, ''
--         'c' number, conflict or '' (goes); the key behind its own is that of the lists of conflicts
--         'n' '', near miss   'f' '', numbers whose near misses go
-- Returns {'gone'}, {'shards', level, split}, or {'done', {level, split, indexed}, unsettled}
local NEAR_MISSES = 256
local FORGOTTEN_AT_ONCE = 3200 -- the numbers of 50 milliseconds
local now = redis.call('HMGET', KEYS[1], 'revision', 'level', 'split', 'done', 'indexed')
if not now[1] then return { 'gone' } end
local level, split, indexed = tonumber(now[2]), tonumber(now[3]), tonumber(now[5] or 0)
local function told()
  local place = tonumber(ARGV[6])
  return { 'done', { level, split, indexed }, place > 0 and redis.call('HLEN', KEYS[place]) or 0 }
end
local redo = tonumber(ARGV[7])
local at, texts = 9, {}
for item = 1, tonumber(ARGV[8]) do
  texts[item] = { ARGV[at], ARGV[at + 1], ARGV[at + 2] }
  at = at + 3
  if not shards_hold(texts[item][3], level, split, tonumber(ARGV[3]), tonumber(ARGV[4])) then
    return { 'shards', level, split }
  end
end

-- From here on it writes.
if redo > 0 then
  if redis.call('ZREM', KEYS[2], ARGV[1]) == 0 then return told() end
  redis.call('HDEL', KEYS[redo], ARGV[1])
else
  local floor, done = tonumber(ARGV[2]), tonumber(now[4] or 0)
  if tonumber(ARGV[1]) < done or redis.call('ZADD', KEYS[2], 'NX', ARGV[1], ARGV[1]) == 0 then
    return told()
  end
  if floor >= done + FORGOTTEN_AT_ONCE then
    redis.call('HSET', KEYS[1], 'done', ARGV[2])
    redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[2])
  end
end
local shard = tonumber(ARGV[5])
for _, text in ipairs(texts) do
  local tags = text[3]
  local change = text[1] == '+' and add_to_bucket or take_from_bucket
  for band = 1, #tags / 4 do
    change(KEYS[shard + band], KEYS[3], band, tag_at(tags, band), text[2])
  end
  shard = shard + #tags / 4
  if tags ~= '' then
    indexed = redis.call('HINCRBY', KEYS[1], 'indexed', text[1] == '+' and 1 or -1)
  end
end

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
for place = at, #ARGV, 4 do
  local key = tonumber(ARGV[place + 1])
  WRITES[ARGV[place]](KEYS[key], ARGV[place + 2], ARGV[place + 3], KEYS[key + 1])
end
return told()
