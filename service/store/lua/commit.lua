#!lua
-- commit: registers one checked text, if all that its verdict rests on still holds.
-- One script, so that of any number of workers with the same text exactly one is told `new`.
-- It checks first and writes last: a refusal, or the memory limit, leaves nothing behind. Run twice,
-- the second run finds the id's number changed and is refused.
--
-- KEYS  1 settings  2 counters  3 ids  4 documents  5 texts  6 twins  7 metadata  8 wide
--       9.. shards of the text, one a tag, then those of each text that leaves
-- ARGV  1 revision  2 level  3 split  4 next at the look  5 id  6 this id's number at the look or ''
--       7 number of the match or ''  8 state of the match
--       9 record (its family 0 where it is the first of one)  10 text  11 metadata or ''
--       12 tags  13 time in seconds
--       14 how many texts leave, then for each: number, tags or '' (dropped)
--       then counters to raise: name, by, …
-- Returns {'done', number, level, split, indexed}, or what no longer holds:
--   {'revision', current or false}   {'shards', level, split}   {'changed'}
--   {'exhausted'}   the numbers of this partition are used up
-- include registering
local FEW_NEWCOMERS = 8
local keys = main_keys()
local documents, wide = keys.documents, keys.wide
local id, expected, match, record, tags = ARGV[5], ARGV[6], ARGV[7], ARGV[9], ARGV[12]
local next_at_look, dropped = tonumber(ARGV[4]), state_of(record) == DROPPED
local bands = #tags / 4 - 1

local now = redis.call('HMGET', keys.settings, 'revision', 'next', 'level', 'split', 'indexed')
if now[1] ~= ARGV[1] then return { 'revision', now[1] } end
local number = tonumber(now[2])
if number > MOST_NUMBERS then return { 'exhausted' } end
local level, split = tonumber(now[3]), tonumber(now[4])
local told_level, told_split = tonumber(ARGV[2]), tonumber(ARGV[3])
if not shards_hold(tags, level, split, told_level, told_split) then
  return { 'shards', level, split }
end

local leaving, argument, next_shard = {}, 15, FIRST_SHARD + bands + 1
for _ = 1, tonumber(ARGV[14]) do
  local text = {
    number = ARGV[argument], tags = ARGV[argument + 1], first_shard = next_shard,
  }
  if not shards_hold(text.tags, level, split, told_level, told_split) then
    return { 'shards', level, split }
  end
  text.record = redis.call('HGET', documents, text.number)
  if not text.record or (state_of(text.record) == DROPPED) ~= (text.tags == '') then
    return { 'changed' }
  end
  leaving[#leaving + 1] = text
  next_shard = next_shard + #text.tags / 4
  argument = argument + 2
end

if (redis.call('HGET', keys.ids, id) or '') ~= expected then return { 'changed' } end
if match ~= '' then
  local matched = redis.call('HGET', documents, match)
  if not matched or state_of(matched) ~= ARGV[8] then return { 'changed' } end
end

-- Whether a text that was registered since the look stands in a bucket; as numbers rise, it is last.
local function holds_newcomer(band)
  local tag = tag_at(tags, band)
  local entry = redis.call('HGET', KEYS[FIRST_SHARD + band - 1], tag)
  local list = members_of(entry, wide, band, tag)
  return list ~= '' and u32(list, #list - 3) >= next_at_look
end

-- Whether one shares a band. A few newcomers are compared one by one, which is cheaper than to read
-- all buckets again.
local function shares_band_with_newcomer()
  if number - next_at_look > FEW_NEWCOMERS then
    for band = 1, bands do
      if holds_newcomer(band) then return true end
    end
    return false
  end
  local own = number > next_at_look and bands_of(record, bands)
  for newcomer = next_at_look, number - 1 do
    local other = redis.call('HGET', documents, pack32(newcomer))
    if other and state_of(other) ~= DROPPED then
      for band, value in ipairs(bands_of(other, bands)) do
        if own[band] == value then return true end
      end
    end
  end
  return false
end

if number > next_at_look and holds_newcomer(bands + 1) then return { 'changed' } end
if not dropped and shares_band_with_newcomer() then return { 'changed' } end

-- From here on it writes.
local by = {}
for _, text in ipairs(leaving) do
  forget_text(keys, text)
  local state = COUNTED[state_of(text.record)]
  by[state] = (by[state] or 0) - 1
end
for at = argument, #ARGV, 2 do
  by[ARGV[at]] = (by[ARGV[at]] or 0) + tonumber(ARGV[at + 1])
end
register(keys, {
  number = number, id = id, tags = tags, record = record, text = ARGV[10], metadata = ARGV[11],
  by = by,
})
keep_alive(documents, match, tonumber(ARGV[13]))
return { 'done', number, level, split, now[5] }
