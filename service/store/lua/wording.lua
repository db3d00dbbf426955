-- What `erase` and a step that erases have in common: taking out what quotes a text.
local QUOTING = { 'changes', 'cut', 'reason', 'note' }

-- An entry or a conflict (the head, and JSON behind it) without what quotes a text, and its JSON.
local function without_words(written, head_bytes)
  local body = cjson.decode(string.sub(written, head_bytes + 1))
  for _, member in ipairs(QUOTING) do body[member] = nil end
  if type(body.resolution) == 'table' then body.resolution[3] = cjson.null end -- its note
  return string.sub(written, 1, head_bytes) .. cjson.encode(body), body
end
