-- What `touch` and `recall` have in common: what a replayed answer needs of the present.
--
-- Returns {entry that put the text where it is or false, entry of its update or false, its conflict or
-- false, state and metadata of the document that it was matched with or false, false}
local function recalled(keys, record, match_id)
  local updated = string.byte(record, 120) % 2 == 1 and string.sub(record, -4)
  local match = match_id ~= '' and redis.call('HGET', keys.ids, match_id)
  local matched = match and redis.call('HGET', keys.documents, string.sub(match, 1, 4))
  return {
    redis.call('HGET', keys.log, decision_of(record)),
    updated and redis.call('HGET', keys.log, updated),
    redis.call('HGET', keys.conflicts, conflict_of(record)),
    matched and state_of(matched),
    matched and redis.call('HGET', keys.metadata, string.sub(match, 1, 4)),
  }
end
