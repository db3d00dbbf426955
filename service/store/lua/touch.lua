#!lua
-- touch: counts a replay, remembers when it was, and keeps the metadata that came with it.
--
-- KEYS  1 ids  2 documents  3 log  4 conflicts  5 metadata  6 counters
-- ARGV  1 number at the look  2 id of what it was matched with or ''  3 id
--       4 time in milliseconds, packed in 6 bytes  5 metadata or ''
--       6 time in seconds  7 number of the text that it rests on or ''
--       8 SHA-256 of the bytes and of the normalised text  9 state and decision at the look
-- Returns what recalling.lua says, or false where the id has another text by now, or other bytes, or
--   something was decided about it.
-- include recalling
local keys = {
  ids = KEYS[1], documents = KEYS[2], log = KEYS[3], conflicts = KEYS[4], metadata = KEYS[5],
}
local counters, metadata, number = KEYS[6], KEYS[5], ARGV[1]
local entry = redis.call('HGET', keys.ids, ARGV[3])
if not entry then return false end
if string.sub(entry, 1, 4) ~= number and string.sub(entry, 5) ~= number then return false end
local record = redis.call('HGET', keys.documents, number)
if hashes_of(record) ~= ARGV[8] or state_of(record) .. decision_of(record) ~= ARGV[9] then
  return false
end
record = with_seen(record, tonumber(ARGV[6]))
if ARGV[5] ~= '' and ARGV[5] ~= redis.call('HGET', metadata, number) then
  redis.call('HSET', metadata, number, ARGV[5])
  record = string.sub(record, 1, 28) .. ARGV[4] .. string.sub(record, 35)
end
redis.call('HSET', keys.documents, number, record)
keep_alive(keys.documents, ARGV[7], tonumber(ARGV[6]))
redis.call('HINCRBY', counters, 'replayed', 1)
return recalled(keys, record, ARGV[2])
