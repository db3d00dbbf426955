#!lua
-- commit: registers one checked text, if all that its verdict rests on still holds.
-- One script, so that of any number of workers with the same text exactly one is told `new`.
-- It checks first and writes last: a refusal, or the memory limit, leaves nothing behind. Run twice,
-- the second run finds the id's number changed and is refused.
--
-- KEYS  1 settings  2 counters  3 ids  4 hashes  5 documents  6 texts  7 twins  8 metadata  9 wide
--       10.. shards of the text (none where it is dropped), then those of each text that leaves,
--       then the shard to split and the one that takes half of it, where the index is to grow
-- ARGV  1 revision  2 level  3 split  4 next at the look  5 id  6 this id's number at the look or ''
--       7 hash of the normalised text  8 number of the match or ''  9 state of the match
--       10 record (family and twin 0 where they are this number, or none)  11 text
--       12 metadata or ''  13 tags or '' (dropped)
--       14 time in seconds  15 what was last seen before this has expired, or 0
--       16 the number that the next sweep begins at, or 0
--       17 how many texts leave, then for each: number, hash, tags or '' (dropped), id where it
--          leaves because it has expired, else ''
--       then 1 or 0: grow;  then counters to raise: name, by, …
-- Returns {'done', number}, or what no longer holds:
--   {'revision', current or false}   {'shards', level, split}   {'changed'}
local settings, counters, ids, hashes, documents, texts, twins, metadata, wide =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local FIRST_SHARD = 10
local id, expected, hash, match, record = ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[10]
local seen, tags = tonumber(ARGV[4]), ARGV[13]

local now = redis.call('HMGET', settings, 'revision', 'next', 'level', 'split', 'indexed')
if now[1] ~= ARGV[1] then return { 'revision', now[1] } end
local level, split = tonumber(now[3]), tonumber(now[4])
local told_level, told_split = tonumber(ARGV[2]), tonumber(ARGV[3])
if not shards_hold(tags, level, split, told_level, told_split) then
  return { 'shards', level, split }
end

local at_time, cutoff, swept = tonumber(ARGV[14]), tonumber(ARGV[15]), tonumber(ARGV[16])
local leaving, argument, next_shard = {}, 18, FIRST_SHARD + #tags / 4
for _ = 1, tonumber(ARGV[17]) do
  local text = {
    number = ARGV[argument],
    hash = ARGV[argument + 1],
    tags = ARGV[argument + 2],
    expired_id = ARGV[argument + 3],
  }
  if not shards_hold(text.tags, level, split, told_level, told_split) then
    return { 'shards', level, split }
  end
  text.record = redis.call('HGET', documents, text.number)
  local as_seen = text.record and (state_of(text.record) == DROPPED) == (text.tags == '')
  text.first_shard = next_shard
  next_shard = next_shard + #text.tags / 4
  argument = argument + 4
  if text.expired_id == '' then
    if not as_seen then return { 'changed' } end
    leaving[#leaving + 1] = text
  elseif as_seen and has_expired(text.record, cutoff) then
    leaving[#leaving + 1] = text
  end
end

if (redis.call('HGET', ids, id) or '') ~= expected then return { 'changed' } end
if match ~= '' then
  local matched = redis.call('HGET', documents, match)
  if not matched or state_of(matched) ~= ARGV[9] then return { 'changed' } end
end

-- A newcomer is always last in its list: numbers rise.
local function has_newcomer(list)
  return list ~= '' and u32(list, #list - 3) >= seen
end
local same_hash = redis.call('HGET', hashes, hash) or ''
if has_newcomer(same_hash) then return { 'changed' } end
local entries = {}
for band = 1, #tags / 4 do
  local tag = tag_at(tags, band)
  local entry = redis.call('HGET', KEYS[FIRST_SHARD + band - 1], tag)
  if has_newcomer(members_of(entry, wide, band, tag)) then return { 'changed' } end
  entries[band] = entry
end

-- From here on it writes. What comes is added before what leaves is taken out, so that the entries
-- just read are still those of the buckets.
local number, indexed = tonumber(now[2]), tonumber(now[5])
local packed = pack32(number)
if u32(record, 6) == 0 then
  record = string.sub(record, 1, 5) .. packed .. string.sub(record, 10)
end
redis.call('HSET', documents, packed, record)
keep_alive(documents, match, at_time)
redis.call('HSET', texts, packed, ARGV[11])
if ARGV[12] ~= '' then redis.call('HSET', metadata, packed, ARGV[12]) end
redis.call('HSET', ids, id, packed)
redis.call('HINCRBY', counters, COUNTED[state_of(record)], 1)
if tags ~= '' then
  redis.call('HSET', hashes, hash, same_hash .. packed)
  for band = 1, #tags / 4 do
    add_to_bucket(
      KEYS[FIRST_SHARD + band - 1], wide, band, tag_at(tags, band), packed, entries[band])
  end
  indexed = indexed + 1
else
  redis.call('ZADD', twins, 0, twin_of(record) .. packed)
end

for _, text in ipairs(leaving) do
  if text.tags ~= '' then
    unindex_text(hashes, wide, text.number, text.hash, text.tags, text.first_shard)
    indexed = indexed - 1
  else
    redis.call('ZREM', twins, twin_of(text.record) .. text.number)
  end
  if text.expired_id ~= '' then redis.call('HDEL', ids, text.expired_id) end
  redis.call('HDEL', documents, text.number)
  redis.call('HDEL', texts, text.number)
  redis.call('HDEL', metadata, text.number)
  redis.call('HINCRBY', counters, COUNTED[state_of(text.record)], -1)
end

if ARGV[argument] == '1' and level == told_level and split == told_split then
  local bands, size = #tags / 4, 2 ^ level
  local from, to = KEYS[next_shard], KEYS[next_shard + 1]
  local shard, all, moved, gone = math.floor(split / bands), redis.call('HGETALL', from), {}, {}
  for at = 1, #all, 2 do
    if u32(all[at]) % (2 * size) ~= shard then
      moved[#moved + 1], moved[#moved + 2] = all[at], all[at + 1]
      gone[#gone + 1] = all[at]
    end
  end
  if #gone > 0 then
    redis.call('HSET', to, unpack(moved))
    redis.call('HDEL', from, unpack(gone))
  end
  split = split + 1
  if split == bands * size then level, split = level + 1, 0 end
end
if swept > 0 then redis.call('HSET', settings, 'swept', swept) end
redis.call('HSET', settings, 'next', number + 1, 'indexed', indexed, 'level', level, 'split', split)

for at = argument + 1, #ARGV, 2 do
  redis.call('HINCRBY', counters, ARGV[at], ARGV[at + 1])
end
return { 'done', number }
