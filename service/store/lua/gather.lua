#!lua flags=no-writes
-- gather: reads what is asked of one partition, all of it at one instant. Writes nothing: no pieces, none done.
--
-- KEYS  as gathering.lua says
-- ARGV  as gathering.lua says
-- Returns what gathering.lua says
-- include piecing
-- include gathering
return gathered()
