#!lua flags=allow-oom
-- release: takes a collection's name from the registry, if it still means this collection.
--
-- KEYS  1 registry
-- ARGV  1 name  2 uid
-- Returns 1, or 0 where the name means another collection by now
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])
