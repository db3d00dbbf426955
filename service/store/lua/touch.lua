#!lua
-- touch: counts a replay, remembers when it was, and keeps the metadata that came with it.
--
-- KEYS  1 counters  2 ids  3 documents  4 metadata
-- ARGV  1 id  2 number at the look  3 time in milliseconds, packed in 6 bytes  4 metadata or ''
--       5 time in seconds  6 number of the text that it rests on or ''
--       7 SHA-256 of the bytes and of the normalised text
-- Returns 1, or 0 where the id has another text by now, or other bytes.
local counters, ids, documents, metadata = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local number = ARGV[2]
if redis.call('HGET', ids, ARGV[1]) ~= number then return 0 end
local record = redis.call('HGET', documents, number)
if hashes_of(record) ~= ARGV[7] then return 0 end
record = with_seen(record, tonumber(ARGV[5]))
if ARGV[4] ~= '' and ARGV[4] ~= redis.call('HGET', metadata, number) then
  redis.call('HSET', metadata, number, ARGV[4])
  record = string.sub(record, 1, 28) .. ARGV[3] .. string.sub(record, 35)
end
redis.call('HSET', documents, number, record)
keep_alive(documents, ARGV[6], tonumber(ARGV[5]))
redis.call('HINCRBY', counters, 'replayed', 1)
return 1
