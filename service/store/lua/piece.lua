#!lua flags=allow-oom
-- piece: applies what a published transaction writes to one partition, once: whoever comes later is passed
-- over. At the memory limit too: it was admitted before it was published.
--
-- KEYS  1 settings  2 applied transactions  3 wide buckets  4.. what the writes name by its place
--       then the shards of each text that comes or goes, one a tag
-- ARGV  1 number of the transaction  2 all below are done  3 level  4 split  5 how many keys are not shards
--       6 place of the unsettled texts, or 0  7 how many texts come or go; for each: '+' or '-', number, tags
--         '=': into the buckets that lack it, '~': out of those that list it
--       then the writes, each: kind, place of its key, two arguments
--         'h' field, value   'x' field, '' (goes)   'i' field, by   'z' member, score   'y' member, '' (goes)
--         'r' number, record whose times are as they stand   's' number, last seen (seconds)
--         'u' number, when it changed   'v' number of an entry that is taken back, ''
--         'c' number, conflict or '' (goes); the key behind its own is that of the lists of conflicts
--         'n' '', near miss   'f' '', numbers whose near misses go
-- Returns {'gone'}, {'shards', level, split}, or {'done', {level, split, indexed}, unsettled}
local NEAR_MISSES = 256
local now = redis.call('HMGET', KEYS[1], 'revision', 'level', 'split', 'done', 'indexed')
if not now[1] then return { 'gone' } end
local number, floor, done = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(now[4] or 0)
local level, split = tonumber(now[2]), tonumber(now[3])
local function told(indexed)
  local place = tonumber(ARGV[6])
  return { 'done', { level, split, indexed }, place > 0 and redis.call('HLEN', KEYS[place]) or 0 }
end
local applied = KEYS[2]
if number < done or redis.call('ZSCORE', applied, ARGV[1]) then
  return told(tonumber(now[5] or 0))
end
local at, texts = 8, {}
for item = 1, tonumber(ARGV[7]) do
  texts[item] = { ARGV[at], ARGV[at + 1], ARGV[at + 2] }
  at = at + 3
  if not shards_hold(texts[item][3], level, split, tonumber(ARGV[3]), tonumber(ARGV[4])) then
    return { 'shards', level, split }
  end
end

-- From here on it writes.
redis.call('ZADD', applied, number, ARGV[1])
if floor > done then
  redis.call('HSET', KEYS[1], 'done', floor)
  redis.call('ZREMRANGEBYSCORE', applied, '-inf', '(' .. ARGV[2])
end
local shard, indexed = tonumber(ARGV[5]), tonumber(now[5] or 0)

-- What repair mends of a text's buckets here; how many texts more the partition holds then: it had all of
-- them or none, as they come and go in one script.
local function mend(text)
  local tags, had = text[3], false
  for band = 1, #tags / 4 do
    local key, tag = KEYS[shard + band], tag_at(tags, band)
    local numbers, more = members_of(redis.call('HGET', key, tag), KEYS[3], band, tag)
    local is_listed = without(numbers, text[2]) ~= nil
    had = had or is_listed
    if text[1] == '~' and is_listed then take_from_bucket(key, KEYS[3], band, tag, text[2]) end
    if text[1] == '=' and not is_listed and more == 0 then
      add_to_bucket(key, KEYS[3], band, tag, text[2])
    end
  end
  if text[1] == '~' then return had and -1 or 0 end
  return had and 0 or 1
end

local function come_or_go(text)
  local tags = text[3]
  for band = 1, #tags / 4 do
    local change = text[1] == '+' and add_to_bucket or take_from_bucket
    change(KEYS[shard + band], KEYS[3], band, tag_at(tags, band), text[2])
  end
  return text[1] == '+' and 1 or -1
end

for _, text in ipairs(texts) do
  local mends = text[1] == '=' or text[1] == '~'
  if text[3] ~= '' then
    indexed = redis.call('HINCRBY', KEYS[1], 'indexed', mends and mend(text) or come_or_go(text))
  end
  shard = shard + #text[3] / 4
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
for place = at, #ARGV, 4 do
  local key = tonumber(ARGV[place + 1])
  WRITES[ARGV[place]](KEYS[key], ARGV[place + 2], ARGV[place + 3], KEYS[key + 1])
end
return told(indexed)
