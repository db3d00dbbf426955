-- What `check` and `commit` have in common: a text that gets the next number.
local MOST_NUMBERS = 4294967039 -- what lies above has meanings of its own (applying.lua)

local function index(keys, number, tags, first_shard)
  for band = 1, #tags / 4 do
    add_to_bucket(KEYS[first_shard + band - 1], keys.wide, band, tag_at(tags, band), number)
  end
  redis.call('HINCRBY', keys.settings, 'indexed', 1)
end

-- Puts a text at its number, in its buckets unless it is dropped, and gives the number, packed. A
-- record without a family is the first of its own.
local function put_text(keys, text, first_shard)
  local packed, record = pack32(text.number), text.record
  if u32(record, 6) == 0 then
    record = string.sub(record, 1, 5) .. packed .. string.sub(record, 10)
  end
  redis.call('HSET', keys.documents, packed, record)
  redis.call('HSET', keys.texts, packed, text.text)
  if text.metadata ~= '' then redis.call('HSET', keys.metadata, packed, text.metadata) end
  if is_indexed(record) then
    index(keys, packed, text.tags, first_shard)
  else
    redis.call('ZADD', keys.twins, 0, survivor_of(record) .. packed)
  end
  redis.call('HSET', keys.settings, 'next', text.number + 1)
  return packed
end
