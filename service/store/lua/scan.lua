#!lua flags=no-writes
-- scan: some fields of a hash without their values, so that what is long stays where it is. Writes nothing.
--
-- KEYS  1 the hash
-- ARGV  1 cursor, '0' to begin with  2 about how many
-- Returns cursor to go on with ('0' at the end), then fields
local told = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
local reply = { told[1] }
for at = 1, #told[2], 2 do reply[#reply + 1] = told[2][at] end
return reply
