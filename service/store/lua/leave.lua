#!lua flags=allow-oom
-- leave: the same step as commit, at the memory limit too: for what takes texts out (deletion, expiry),
-- so that a full store can be emptied.
--
-- KEYS, ARGV  as applying.lua says
-- Returns what applying.lua says
-- include registering
-- include applying
return apply_step()
