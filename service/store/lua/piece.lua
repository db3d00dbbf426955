#!lua flags=allow-oom
-- piece: what gather_open does, at the memory limit too: pieces were admitted before they were published.
--
-- KEYS  as gathering.lua says
-- ARGV  as gathering.lua says
-- Returns what gathering.lua says
-- include piecing
-- include gathering
return gathered(apply_carried)
