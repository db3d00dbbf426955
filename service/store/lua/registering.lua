-- What `check` and `commit` have in common: writing a text whose verdict holds.
local MOST_NUMBERS = 4294967295

-- Puts a text at `number`, under its id and, where it is not dropped, in its buckets, and raises the
-- counters `by`. A record without a family is the first of its own.
local function register(keys, text)
  local packed, record = pack32(text.number), text.record
  if u32(record, 6) == 0 then
    record = string.sub(record, 1, 5) .. packed .. string.sub(record, 10)
  end
  redis.call('HSET', keys.documents, packed, record)
  redis.call('HSET', keys.texts, packed, text.text)
  if text.metadata ~= '' then redis.call('HSET', keys.metadata, packed, text.metadata) end
  redis.call('HSET', keys.ids, text.id, packed)
  if state_of(record) == DROPPED then
    redis.call('ZADD', keys.twins, 0, survivor_of(record) .. packed)
  else
    for band = 1, #text.tags / 4 do
      add_to_bucket(
        KEYS[FIRST_SHARD + band - 1], keys.wide, band, tag_at(text.tags, band), packed)
    end
    redis.call('HINCRBY', keys.settings, 'indexed', 1)
  end
  redis.call('HSET', keys.settings, 'next', text.number + 1)
  local state = COUNTED[state_of(record)]
  text.by[state] = (text.by[state] or 0) + 1
  raise(keys.counters, text.by)
end
