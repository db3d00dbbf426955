#!lua
-- rewrite: other bytes with the same normalised text under an id that is known. Its number, its
-- buckets and all that rests on it stay; record and kept text are replaced, and metadata where any
-- came.
--
-- KEYS  1 counters  2 ids  3 documents  4 texts  5 metadata
-- ARGV  1 id  2 number at the look  3 record at the look  4 record  5 text  6 metadata or ''
--       7 time in seconds  8 number of the text that it rests on or ''
--       then counters to raise: name, by, …
-- Returns 1, or 0 where the document has changed since the look
local counters, ids, documents, texts, metadata = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local number = ARGV[2]
if redis.call('HGET', ids, ARGV[1]) ~= number then return 0 end
if redis.call('HGET', documents, number) ~= ARGV[3] then return 0 end
redis.call('HSET', documents, number, ARGV[4])
redis.call('HSET', texts, number, ARGV[5])
if ARGV[6] ~= '' then redis.call('HSET', metadata, number, ARGV[6]) end
keep_alive(documents, ARGV[8], tonumber(ARGV[7]))
local by = {}
for at = 9, #ARGV, 2 do
  by[ARGV[at]] = tonumber(ARGV[at + 1])
end
raise(counters, by)
return 1
