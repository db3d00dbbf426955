#!lua flags=no-writes
-- recall: what a replayed answer needs of the present, without counting it.
--
-- KEYS  1 ids  2 documents  3 log  4 conflicts  5 metadata
-- ARGV  1 number  2 id of what it was matched with or ''
-- Returns what recalling.lua says, or false where the text has left
-- include recalling
local keys = {
  ids = KEYS[1], documents = KEYS[2], log = KEYS[3], conflicts = KEYS[4], metadata = KEYS[5],
}
local record = redis.call('HGET', keys.documents, ARGV[1])
return record and recalled(keys, record, ARGV[2])
