#!lua flags=allow-oom
-- mend: sets right what home counts, and what is given next, of a collection that has several partitions.
--
-- KEYS  1 settings  2 counters  3 unfinished transactions
-- ARGV  1 revision  2 '1' where the next transaction is to leap, as after a failover (publishing.lua)
--       3 the last transaction when it was counted, or '' where it does not rest on that
--       then: '<' a setting that is to be so much or more, '=' a setting or '#' a counter as it is to be ('': gone);
--       name and value behind each
-- Returns 1, or 0 where something was published since, or the collection has changed
local now = redis.call('HMGET', KEYS[1], 'revision', 'transactions')
if now[1] ~= ARGV[1] then return 0 end
if ARGV[3] ~= '' and (now[2] or '0') ~= ARGV[3] then return 0 end
if ARGV[3] ~= '' and redis.call('ZCARD', KEYS[3]) > 0 then return 0 end
for at = 4, #ARGV, 3 do
  local name, value = ARGV[at + 1], ARGV[at + 2]
  local key = ARGV[at] == '#' and KEYS[2] or KEYS[1]
  if value == '' then
    redis.call('HDEL', key, name)
  elseif ARGV[at] ~= '<' or tonumber(redis.call('HGET', key, name) or 0) < tonumber(value) then
    redis.call('HSET', key, name, value)
  end
end
if ARGV[2] == '1' then redis.call('HDEL', KEYS[1], 'run') end
return 1
