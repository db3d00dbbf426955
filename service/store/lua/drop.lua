#!lua flags=allow-oom
-- drop: makes a collection unknown to every look and commit, before its keys are removed.
--
-- KEYS  1 settings
-- ARGV  none
-- Returns {scheme, level of its shards, settings}, false where it has none
redis.call('HDEL', KEYS[1], 'revision')
return redis.call('HMGET', KEYS[1], 'scheme', 'level', 'settings')
