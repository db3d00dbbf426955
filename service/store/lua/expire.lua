#!lua flags=allow-oom
-- expire: takes out texts that a look found to have expired, if they still have.
-- It may run at the memory limit, so that a full store empties itself.
--
-- KEYS  1 settings  2 counters  3 ids  4 documents  5 texts  6 twins  7 metadata  8 wide
--       9.. shards of each text, none where it is dropped
-- ARGV  1 revision  2 level  3 split  4 what was last seen before this has expired (seconds)
--       then for each text: number, tags or '' (dropped), id
-- Returns {'done'}, {'revision', …} or {'shards', level, split}
local keys = main_keys()
local cutoff = tonumber(ARGV[4])
local now = redis.call('HMGET', keys.settings, 'revision', 'level', 'split')
if now[1] ~= ARGV[1] then return { 'revision', now[1] } end
local level, split = tonumber(now[2]), tonumber(now[3])

local texts, next_shard = {}, FIRST_SHARD
for at = 5, #ARGV, 3 do
  local text = {
    number = ARGV[at], tags = ARGV[at + 1], id = ARGV[at + 2],
    first_shard = next_shard, record = redis.call('HGET', keys.documents, ARGV[at]),
  }
  if not shards_hold(text.tags, level, split, tonumber(ARGV[2]), tonumber(ARGV[3])) then
    return { 'shards', level, split }
  end
  next_shard = next_shard + #text.tags / 4
  texts[#texts + 1] = text
end

for _, text in ipairs(texts) do
  local record = text.record
  local as_told = record and (state_of(record) == DROPPED) == (text.tags == '')
  if as_told and has_expired(record, cutoff) then
    forget_text(keys, text)
    redis.call('HDEL', keys.ids, text.id)
    redis.call('HINCRBY', keys.counters, COUNTED[state_of(record)], -1)
  end
end
return { 'done' }
