#!lua flags=allow-oom
-- publish_out: the same at the memory limit too: for what takes texts out, so that a full store can be emptied.
--
-- KEYS  as publishing.lua says
-- ARGV  as publishing.lua says
-- Returns what publishing.lua says
-- include history
-- include publishing
return published()
