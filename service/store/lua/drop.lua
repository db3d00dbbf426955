#!lua flags=allow-oom
-- drop: makes a collection unknown to every look and commit, before its keys are removed.
--
-- KEYS  1 settings
-- ARGV  none
-- Returns the level of its shards
redis.call('HDEL', KEYS[1], 'revision')
return redis.call('HGET', KEYS[1], 'level')
