#!lua
-- commit: applies one step of the life of documents, if all that it rests on still holds.
-- One script, so that of any number of workers with the same text exactly one is told `new`, and no
-- document is ever between two states.
--
-- KEYS, ARGV  as applying.lua says
-- Returns what applying.lua says
-- include registering
-- include applying
return apply_step()
