#!lua flags=allow-oom
-- admit: counts a call of one that may make so many a second, or tells how long it has to wait.
--
-- A call pushes the key's time one interval on; a call may come while that is less than a second
-- ahead of now. So a second's worth may come at once, and over time no more than the rate
-- (the generic cell rate algorithm, ITU-T I.371). A call that is refused counts for nothing.
--
-- KEYS  1 when its calls are made up for (microseconds since 1970)
-- ARGV  1 calls a second
-- Returns how long to wait, in microseconds: 0 where the call was counted.
local SECOND = 1000000
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * SECOND + tonumber(clock[2])
local interval = math.floor(SECOND / tonumber(ARGV[1]))
local ahead = math.max(0, tonumber(redis.call('GET', KEYS[1]) or 0) - now)
if ahead + interval > SECOND then return ahead + interval - SECOND end
redis.call('SET', KEYS[1], string.format('%d', now + ahead + interval), 'PX', 2000)
return 0
