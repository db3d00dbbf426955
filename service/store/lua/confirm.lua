#!lua flags=allow-oom
-- confirm: writes something small, so that a WAIT behind it tells of all that was written before it.
-- A replica gets all writes of its primary in one order: one that has this has what any client wrote
-- before. At the memory limit it runs too: replays must be confirmed there.
--
-- KEYS  1 a key that is for this alone, in the slot of what is to be confirmed
-- ARGV  none
-- Returns 1
redis.call('SET', KEYS[1], '', 'PX', 1000)
return 1
