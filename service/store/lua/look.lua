#!lua flags=no-writes
-- look: what the store knows of a text that is about to be checked. Writes nothing.
-- One script, so that all of it is of one instant: a commit can then ask what came since.
--
-- KEYS  1 settings  2 ids  3 hashes  4 documents  5 texts  6 metadata  7 wide  8.. shards, one a band
-- ARGV  1 revision  2 level  3 split  4 id  5 SHA-256 of the bytes  6 hash of the normalised text
--       7 tags  8 shingles  9 threshold  10 most texts  11 most candidates
--       12 what was last seen before this has expired (seconds, 0: nothing does)
-- Returns
--   {'revision', current or false}      the settings changed, or the collection is gone
--   {'shards', level, split}            the index has grown: other shards
--   {'known', number, record, metadata, anchor's number and record or false, false}
--                                       same id, same bytes, and what that rests on is there
--   {'seen', next, level, split, indexed, old, exact, candidates, cut, swept, expired}
--       old         {number, record, text, anchor's number and record or false, false} of this id
--                   or {}
--       swept       the number that the next sweep begins at
--       expired     {number, record, …}: a few that the commit may take out
--       (the anchor is the text that a dropped one rests on)
--       exact       {number, record} of the oldest other text with this hash or {}
--       candidates  {number, hits, record, text or false, …}, most shared buckets first
local settings, ids, hashes, documents, texts, metadata, wide =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local FIRST_SHARD = 8
local MOST_PROBED = 256
local SWEPT_AT_ONCE, MOST_EXPIRED = 8, 2
local tags, size, threshold = ARGV[7], tonumber(ARGV[8]), tonumber(ARGV[9])
local most_texts, most_candidates = tonumber(ARGV[10]), tonumber(ARGV[11])
local cutoff = tonumber(ARGV[12])

local now = redis.call('HMGET', settings, 'revision', 'next', 'level', 'split', 'indexed', 'swept')
if now[1] ~= ARGV[1] then return { 'revision', now[1] } end
local level, split = tonumber(now[3]), tonumber(now[4])
if not shards_hold(tags, level, split, tonumber(ARGV[2]), tonumber(ARGV[3])) then
  return { 'shards', level, split }
end

local own = redis.call('HGET', ids, ARGV[4])
local old = {}
if own then
  local record = redis.call('HGET', documents, own)
  local anchor_number, anchor = rests_on(documents, record, cutoff)
  local rests = state_of(record) ~= DROPPED or anchor
  if rests and bytes_of(record) == ARGV[5] and not has_expired(record, cutoff) then
    return { 'known', own, record, redis.call('HGET', metadata, own),
      anchor_number or false, anchor or false }
  end
  old = { own, record, redis.call('HGET', texts, own), anchor_number or false, anchor or false }
end

-- Some numbers further on at each look, around and around: what has expired is found without an
-- index of times.
local function sweep()
  local at, ends, expired = tonumber(now[6] or 1), tonumber(now[2]), {}
  for _ = 1, math.min(SWEPT_AT_ONCE, ends - 1) do -- none twice
    if at >= ends then at = 1 end
    local number = pack32(at)
    local record = number ~= own and redis.call('HGET', documents, number)
    at = at + 1
    if record and has_expired(record, cutoff) then
      expired[#expired + 1], expired[#expired + 2] = number, record
      if #expired == MOST_EXPIRED * 2 then break end
    end
  end
  return at, expired
end

local function seen(exact, candidates, cut)
  local swept, expired = 0, {}
  if cutoff > 0 then swept, expired = sweep() end
  return { 'seen', now[2], level, split, now[5], old, exact, candidates, cut, swept, expired }
end

local same = redis.call('HGET', hashes, ARGV[6]) or ''
for at = 1, #same, 4 do
  local number = string.sub(same, at, at + 3)
  local record = number ~= own and redis.call('HGET', documents, number)
  if record and not has_expired(record, cutoff) then
    return seen({ number, record }, {}, 0)
  end
end

local hits, found, cut = {}, {}, 0
for band = 1, #tags / 4 do
  local tag = tag_at(tags, band)
  local entry = redis.call('HGET', KEYS[FIRST_SHARD + band - 1], tag)
  local list, unlisted = members_of(entry, wide, band, tag)
  if unlisted > 0 then cut = 1 end
  for at = 1, #list, 4 do
    local number = string.sub(list, at, at + 3)
    local so_far = hits[number]
    if so_far then
      hits[number] = so_far + 1
    else
      hits[number] = 1
      found[#found + 1] = number
    end
  end
end
if own then hits[own] = nil end

-- Most hits first, older before newer: by counting, as a sort would cost more than all the rest.
local by_hits = {}
for _, number in ipairs(found) do
  local count = hits[number]
  if count then
    local same_hits = by_hits[count]
    if same_hits then same_hits[#same_hits + 1] = number else by_hits[count] = { number } end
  end
end

local candidates, taken, probed = {}, 0, 0
for count = #tags / 4, 1, -1 do
  for _, number in ipairs(by_hits[count] or {}) do
    if taken == most_candidates or probed == MOST_PROBED then
      return seen({}, candidates, 1)
    end
    probed = probed + 1
    local record = redis.call('HGET', documents, number)
    local other = u32(record, 2)
    -- Sets of such different sizes cannot reach the threshold (1e-9: rounding never decides).
    local in_reach = math.min(size, other) >= math.max(size, other) * (threshold - 1e-9)
    if in_reach and not has_expired(record, cutoff) then
      taken = taken + 1
      candidates[#candidates + 1] = number
      candidates[#candidates + 1] = count
      candidates[#candidates + 1] = record
      candidates[#candidates + 1] = taken <= most_texts and redis.call('HGET', texts, number)
    end
  end
end
return seen({}, candidates, cut)
