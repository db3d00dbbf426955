#!lua flags=no-writes
-- look: what the store knows of a text that is about to be checked. Writes nothing.
-- One script, so that all of it is of one instant: a commit can then ask what came since.
--
-- KEYS  1 settings  2 counters  3 ids  4 documents  5 texts  6 twins  7 metadata  8 wide
--       9.. shards of the text, one a tag
-- ARGV  as looking.lua says
-- Returns what looking.lua says
-- include looking
return look_at(main_keys())
