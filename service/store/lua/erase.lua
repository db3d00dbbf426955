#!lua flags=allow-oom
-- erase: takes what quotes a document out of log entries and conflicts that name it, and texts that only
-- they keep. Which entry stands where, what kind it is and what it ingests and retires stays. Run
-- twice, the second run finds nothing to take out.
--
-- KEYS  1..17 as applying.lua says
-- ARGV  1 id  2 how many entries  3.. numbers of entries that may name it, then of conflicts
-- Returns how many entries it changed
-- include wording
local keys = main_keys()
local log, conflicts = KEYS[9], KEYS[11]
local id, count, changed = ARGV[1], tonumber(ARGV[2]), 0

local entry_of_id = redis.call('HGET', keys.ids, id) or ''
local main, pending = string.sub(entry_of_id, 1, 4), string.sub(entry_of_id, 5)

-- A text of this id that stands nowhere: others may rest on what was dropped, so its record stays.
local function forget(number)
  local record = u32(number) > 0 and redis.call('HGET', keys.documents, number)
  if not record or is_indexed(record) or id_of(record) ~= id then return end
  if number == main or number == pending then return end -- posted anew since
  if state_of(record) == GONE then redis.call('HDEL', keys.documents, number) end
  redis.call('HDEL', keys.texts, number)
  redis.call('HDEL', keys.metadata, number)
end

for at = 3, 2 + count do
  local entry = redis.call('HGET', log, ARGV[at])
  if entry then
    local bare, body = without_words(entry, 28)
    if body.document == id or body.twin == id then
      for _, place in ipairs({ 9, 13, 21, 25 }) do
        forget(string.sub(entry, place, place + 3))
      end
      redis.call('HSET', log, ARGV[at], bare)
      changed = changed + 1
    end
  end
end
for at = 3 + count, #ARGV do
  local written = redis.call('HGET', conflicts, ARGV[at])
  if written then
    local bare, body = without_words(written, 29)
    if body.existing == id or body.incoming == id then
      redis.call('HSET', conflicts, ARGV[at], bare)
    end
  end
end
return changed
