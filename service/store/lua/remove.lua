#!lua flags=allow-oom
-- remove: takes a document out, with its entries in every bucket, in one step.
-- It may run at the memory limit: that is how a full store is emptied. Run twice, the second run
-- finds nothing under the id.
--
-- KEYS  1 settings  2 counters  3 ids  4 documents  5 texts  6 twins  7 metadata  8 wide
--       9.. shards of the text, none where it is dropped
-- ARGV  1 revision  2 level  3 split  4 id  5 its number at the look  6 tags or '' (dropped)
-- Returns {'done'}, {'revision', …}, {'shards', level, split} or {'changed'}
local keys = main_keys()
local id, number, tags = ARGV[4], ARGV[5], ARGV[6]

local now = redis.call('HMGET', keys.settings, 'revision', 'level', 'split')
if now[1] ~= ARGV[1] then return { 'revision', now[1] } end
local level, split = tonumber(now[2]), tonumber(now[3])
if not shards_hold(tags, level, split, tonumber(ARGV[2]), tonumber(ARGV[3])) then
  return { 'shards', level, split }
end
if redis.call('HGET', keys.ids, id) ~= number then return { 'changed' } end
local record = redis.call('HGET', keys.documents, number)
if (state_of(record) == DROPPED) ~= (tags == '') then return { 'changed' } end

forget_text(keys, { number = number, tags = tags, first_shard = FIRST_SHARD, record = record })
redis.call('HDEL', keys.ids, id)
redis.call('HINCRBY', keys.counters, COUNTED[state_of(record)], -1)
return { 'done' }
