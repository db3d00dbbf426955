#!lua flags=no-writes
-- gather: reads what is asked of one partition, all of it at one instant. Writes nothing: no pieces, none done.
--
-- KEYS  as gathering.lua says
-- ARGV  as gathering.lua says
-- Returns what gathering.lua says
-- include gathering
local FIRST_QUESTION = 10 -- behind a place, no pieces, none done
return gathered(function(_, _, indexed) return indexed, FIRST_QUESTION end)
