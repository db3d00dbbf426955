#!lua
-- configure: writes the settings of a collection, if they are still those that the caller changed.
-- One script, so that no document comes in between "there is none yet" and the new scheme.
--
-- KEYS  1 settings  2 counters  3 unfinished transactions
-- ARGV  1 revision that was read, or '' for a collection that is to be made  2 the new revision
--       3 settings  4 scheme  5 '1' where only an empty collection may be changed so  6 first level
--       7 the name of a collection that is to be made
-- Returns 'done', 'frozen' (it has documents), 'busy' (a transaction is to be finished first), or
--   'changed' (read again)
local settings, counters = KEYS[1], KEYS[2]
if (redis.call('HGET', settings, 'revision') or '') ~= ARGV[1] then return 'changed' end
if ARGV[5] == '1' then
  local states = redis.call('HMGET', counters, 'active', 'held', 'dropped')
  for _, count in ipairs(states) do
    if count and tonumber(count) > 0 then return 'frozen' end
  end
  if redis.call('ZCARD', KEYS[3]) > 0 then return 'busy' end
  redis.call('HSET', settings, 'level', ARGV[6], 'split', 0)
end
redis.call('HSET', settings, 'revision', ARGV[2], 'settings', ARGV[3], 'scheme', ARGV[4])
if ARGV[1] == '' then redis.call('HSET', settings, 'next', 1, 'indexed', 0, 'name', ARGV[7], 'run', run_of_server()) end
return 'done'
