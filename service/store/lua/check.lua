#!lua
-- check: a look, and where nothing stored is like the text, its registration in the same step.
-- Most texts are new and like nothing: they need no second round trip, and no look can be out of date.
-- Run twice, the second run finds the text under its id and answers as a look.
--
-- KEYS  as those of look
-- ARGV  1..11 as looking.lua says
--       12 record of a new text (its family 0)  13 text  14 metadata or ''  15.. counters: name, by, …
-- Returns {'done', number, state}, state as looking.lua says, or what looking.lua says
-- include looking
-- include registering
local keys = main_keys()
local reply = look_at(keys)
if reply[1] ~= 'seen' then return reply end
local number, state, expired, standing = tonumber(reply[2]), reply[3], reply[8], reply[9]
local exact, candidates, cut = reply[5], reply[6], reply[7]
local is_alone = not (standing[1] or exact[1] or candidates[1] or expired[1]) and cut == 0
if not is_alone or tonumber(state[4] or 0) > 0 or number > MOST_NUMBERS then return reply end
local by = { active = 1 }
for at = 15, #ARGV, 2 do by[ARGV[at]] = tonumber(ARGV[at + 1]) end
local packed = put_text(keys, {
  number = number, tags = ARGV[6], record = ARGV[12], text = ARGV[13], metadata = ARGV[14],
}, FIRST_LOOKED)
redis.call('HSET', keys.ids, ARGV[4], packed)
raise(keys.counters, by)
return { 'done', number, state }
