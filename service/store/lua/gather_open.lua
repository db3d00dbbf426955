#!lua
-- gather_open: the same as gather, behind pieces that are applied first, and refused by a server at its memory
-- limit: asked before a step that adds is published, so that what was published can be applied.
--
-- KEYS  as gathering.lua says
-- ARGV  as gathering.lua says
-- Returns what gathering.lua says
-- include piecing
-- include gathering
return gathered(apply_carried)
