#!lua flags=allow-oom
-- remove: takes a document out, with its entries in every bucket, in one step.
-- It may run at the memory limit: that is how a full store is emptied. Run twice, the second run
-- finds nothing under the id.
--
-- KEYS  1 settings  2 counters  3 ids  4 hashes  5 documents  6 texts  7 twins  8 metadata  9 wide
--       10.. shards of the text, none where it is dropped
-- ARGV  1 revision  2 level  3 split  4 id  5 its number at the look  6 hash  7 tags or '' (dropped)
-- Returns {'done'}, {'revision', …}, {'shards', level, split} or {'changed'}
local settings, counters, ids, hashes, documents, texts, twins, metadata, wide =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local id, number, tags = ARGV[4], ARGV[5], ARGV[7]

local now = redis.call('HMGET', settings, 'revision', 'level', 'split')
if now[1] ~= ARGV[1] then return { 'revision', now[1] } end
local level, split = tonumber(now[2]), tonumber(now[3])
if not shards_hold(tags, level, split, tonumber(ARGV[2]), tonumber(ARGV[3])) then
  return { 'shards', level, split }
end
if redis.call('HGET', ids, id) ~= number then return { 'changed' } end
local record = redis.call('HGET', documents, number)
local dropped = state_of(record) == DROPPED
if dropped ~= (tags == '') then return { 'changed' } end

if dropped then
  redis.call('ZREM', twins, twin_of(record) .. number)
else
  unindex_text(hashes, wide, number, ARGV[6], tags, 10)
  redis.call('HINCRBY', settings, 'indexed', -1)
end
redis.call('HDEL', ids, id)
redis.call('HDEL', documents, number)
redis.call('HDEL', texts, number)
redis.call('HDEL', metadata, number)
redis.call('HINCRBY', counters, COUNTED[state_of(record)], -1)
return { 'done' }
