#!lua flags=allow-oom
-- trim: takes the oldest entries out of the log, and with each what only it kept: the record and text of
-- a dropped copy, the text of one that left, a conflict that is over. Run twice, the second run finds
-- less to do.
--
-- KEYS  1..17 as applying.lua says
-- ARGV  1 revision  2 entries before this go (seconds)  3 most entries
-- Returns {'done', entries taken out, time of the oldest that stays or false} or {'revision', …}
local keys = main_keys()
local log, log_index, conflicts, by_age, lists = KEYS[9], KEYS[10], KEYS[11], KEYS[13], KEYS[17]
local MOST_CONFLICTS = 200
local now = redis.call('HMGET', keys.settings, 'revision', 'trimmed', 'logged')
if now[1] ~= ARGV[1] then return { 'revision', now[1] } end
local cutoff, trimmed, logged = tonumber(ARGV[2]), tonumber(now[2] or 0), tonumber(now[3] or 0)

local function seconds_of(entry)
  return math.floor((string.byte(entry, 2) * 2 ^ 40 + u32(entry, 3) * 256 + string.byte(entry, 7)) / 1000)
end

-- A text that the entry kept goes, unless it stands again by now or another entry keeps it.
local function forget_kept(number, ids, entry)
  if u32(number) == 0 then return end
  local record = redis.call('HGET', keys.documents, number)
  if not record or is_indexed(record) or decision_of(record) ~= entry then return end
  if state_of(record) == DROPPED then
    redis.call('ZREM', keys.twins, survivor_of(record) .. number)
    for _, id in ipairs(ids) do
      if redis.call('HGET', keys.ids, id) == number then
        redis.call('HDEL', keys.ids, id)
        redis.call('HINCRBY', keys.counters, 'dropped', -1)
      end
    end
  end
  redis.call('HDEL', keys.documents, number)
  redis.call('HDEL', keys.texts, number)
  redis.call('HDEL', keys.metadata, number)
end

local gone, oldest = 0, false
while trimmed < logged do
  local packed = pack32(trimmed + 1)
  local entry = redis.call('HGET', log, packed)
  oldest = seconds_of(entry)
  if oldest >= cutoff or gone == tonumber(ARGV[3]) then break end
  local body = cjson.decode(string.sub(entry, 29))
  local ids = { body.document }
  if type(body.twin) == 'string' then ids[2] = body.twin end
  forget_kept(string.sub(entry, 21, 24), ids, packed)
  forget_kept(string.sub(entry, 25, 28), ids, packed)
  for _, id in ipairs(ids) do
    redis.call('ZREM', log_index, entry_name(id) .. packed)
  end
  redis.call('HDEL', log, packed)
  trimmed, gone, oldest = trimmed + 1, gone + 1, false
end
-- Conflicts that are over stand in order of the entry that closed them, as negative scores.
local over = redis.call('ZRANGEBYSCORE', by_age, -trimmed, -1, 'LIMIT', 0, MOST_CONFLICTS)
for _, conflict in ipairs(over) do
  local written = redis.call('HGET', conflicts, conflict)
  local names = cjson.decode(string.sub(written, 30))
  for _, place in ipairs(places_of(written, conflict)) do redis.call('ZREM', lists, place) end
  for _, id in ipairs({ names.existing, names.incoming }) do
    redis.call('ZREM', log_index, conflict_name(id) .. conflict)
  end
  redis.call('HDEL', conflicts, conflict)
  redis.call('ZREM', by_age, conflict)
end
redis.call('HSET', keys.settings, 'trimmed', trimmed)
redis.call('HINCRBY', keys.counters, 'log_trimmed', gone)
if oldest then
  redis.call('HSET', keys.settings, 'oldest', oldest)
else
  redis.call('HDEL', keys.settings, 'oldest')
end
return { 'done', gone, oldest }
