#!lua
-- touch: counts a replay, and keeps the metadata that came with it.
--
-- KEYS  1 counters  2 ids  3 documents  4 metadata
-- ARGV  1 id  2 number at the look  3 time in milliseconds, packed in 8 bytes  4 metadata or ''
-- Returns 1, or 0 where the id has another text by now.
local counters, ids, documents, metadata = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local number = ARGV[2]
if redis.call('HGET', ids, ARGV[1]) ~= number then return 0 end
if ARGV[4] ~= '' and ARGV[4] ~= redis.call('HGET', metadata, number) then
  local record = redis.call('HGET', documents, number)
  redis.call('HSET', metadata, number, ARGV[4])
  redis.call(
    'HSET', documents, number, string.sub(record, 1, 30) .. ARGV[3] .. string.sub(record, 39))
end
redis.call('HINCRBY', counters, 'replayed', 1)
return 1
