#!lua flags=allow-oom
-- finish: takes transactions whose pieces are all applied out of the redo log.
--
-- KEYS  1 redo log  2 unfinished transactions
-- ARGV  their numbers
-- Returns how many there were
redis.call('HDEL', KEYS[1], unpack(ARGV))
return redis.call('ZREM', KEYS[2], unpack(ARGV))
