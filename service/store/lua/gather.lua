#!lua flags=no-writes
-- gather: reads what is asked of one partition, all of it at one instant. Writes nothing.
--
-- KEYS  as gathering.lua says
-- ARGV  as gathering.lua says
-- Returns what gathering.lua says
-- include gathering
return gathered()
