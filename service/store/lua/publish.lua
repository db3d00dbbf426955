#!lua
-- publish: a transaction happens, if nothing that it rests on was touched since it was read.
--
-- KEYS  as publishing.lua says
-- ARGV  as publishing.lua says
-- Returns what publishing.lua says
-- include history
-- include publishing
return published()
