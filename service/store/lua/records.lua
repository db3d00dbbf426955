-- What every script shares; Python puts it between a script's first line and its body.
--
-- A document's record is one packed string (store/records.py). Read here:
--   1 state ('a' active, 'h' held, 'd' dropped)   2-5 shingles   6-9 family   10-13 twin
--   31-38 updated at   39-42 last seen (seconds)   43-74 SHA-256 of the bytes as posted
-- Numbers are 32-bit, big-endian. A text's number is given at its registration, rises, and is
-- never used twice in a collection; an update is a new number.
--
-- A bucket is the list of numbers whose texts share a band's tag. Up to INLINE_MOST stand in the
-- band's shard (a hash small enough for the compact encoding); more move to the hash `wide`, which
-- lists WIDE_MOST of them and counts the rest.

local INLINE_MOST = 15
local WIDE_MOST = 256
local WIDE = 'w'
local ACTIVE, HELD, DROPPED = 'a', 'h', 'd'

local function u32(packed, at)
  return struct.unpack('>I4', packed, at or 1)
end

local function pack32(number)
  return struct.pack('>I4', number)
end

local function state_of(record) return string.sub(record, 1, 1) end
local function twin_of(record) return string.sub(record, 10, 13) end
local function bytes_of(record) return string.sub(record, 43, 74) end

-- Whether a document was neither posted nor matched since `cutoff` (seconds, 0: nothing expires).
local function has_expired(record, cutoff)
  return cutoff > 0 and state_of(record) ~= HELD and u32(record, 39) < cutoff
end

local function with_seen(record, seconds)
  return string.sub(record, 1, 38) .. pack32(seconds) .. string.sub(record, 43)
end

-- A text that was just named as a match lives on; '' names none.
local function keep_alive(documents, number, seconds)
  local record = number ~= '' and redis.call('HGET', documents, number)
  if record then redis.call('HSET', documents, number, with_seen(record, seconds)) end
end

-- The shard of a tag in a band, by linear hashing: each band has 2^level shards, and those before
-- the split point (counted shard by shard, band by band) have been split in two.
local function shard_of(tag, band, bands, level, split)
  local hash, size = u32(tag), 2 ^ level
  local shard = hash % size
  if shard * bands + band < split then return hash % (2 * size) end
  return shard
end

-- Whether shards chosen with the caller's idea of the growth are still the right ones.
local function shards_hold(tags, level, split, told_level, told_split)
  if level == told_level and split == told_split then return true end
  local bands = #tags / 4
  for band = 0, bands - 1 do
    local tag = string.sub(tags, band * 4 + 1, band * 4 + 4)
    if shard_of(tag, band, bands, level, split)
      ~= shard_of(tag, band, bands, told_level, told_split) then
      return false
    end
  end
  return true
end

local function tag_at(tags, band)
  return string.sub(tags, (band - 1) * 4 + 1, band * 4)
end

-- The numbers that a bucket lists, packed, and how many more it holds. `entry` is what its shard has.
local function members_of(entry, wide, band, tag)
  if not entry then return '', 0 end
  if entry ~= WIDE then return entry, 0 end
  local listed = redis.call('HGET', wide, string.char(band) .. tag)
  return string.sub(listed, 5), u32(listed)
end

local function add_to_bucket(shard, wide, band, tag, number, entry)
  if not entry then
    redis.call('HSET', shard, tag, number)
  elseif entry ~= WIDE and #entry < INLINE_MOST * 4 then
    redis.call('HSET', shard, tag, entry .. number)
  else
    local name = string.char(band) .. tag
    local listed = entry == WIDE and redis.call('HGET', wide, name)
    if not listed then
      redis.call('HSET', wide, name, pack32(0) .. entry .. number)
      redis.call('HSET', shard, tag, WIDE)
    elseif #listed < 4 + WIDE_MOST * 4 then
      redis.call('HSET', wide, name, listed .. number)
    else
      redis.call('HSET', wide, name, pack32(u32(listed) + 1) .. string.sub(listed, 5))
    end
  end
end

-- A packed list without one number, or nil where it does not hold it.
local function without(list, number)
  for at = 1, #list, 4 do
    if string.sub(list, at, at + 3) == number then
      return string.sub(list, 1, at - 1) .. string.sub(list, at + 4)
    end
  end
  return nil
end

local function take_from_bucket(shard, wide, band, tag, number)
  local entry = redis.call('HGET', shard, tag)
  if not entry then return end
  if entry ~= WIDE then
    local rest = without(entry, number)
    if rest == '' then
      redis.call('HDEL', shard, tag)
    elseif rest then
      redis.call('HSET', shard, tag, rest)
    end
    return
  end
  local name = string.char(band) .. tag
  local listed = redis.call('HGET', wide, name)
  local rest = without(string.sub(listed, 5), number)
  local unlisted = u32(listed)
  if not rest then
    rest, unlisted = string.sub(listed, 5), unlisted - 1
  end
  if rest == '' and unlisted == 0 then
    redis.call('HDEL', wide, name)
    redis.call('HDEL', shard, tag)
  else
    redis.call('HSET', wide, name, pack32(unlisted) .. rest)
  end
end

-- Takes a text from its hash and its buckets.
local function unindex_text(hashes, wide, number, hash, tags, first)
  local rest = without(redis.call('HGET', hashes, hash) or '', number)
  if rest == '' then
    redis.call('HDEL', hashes, hash)
  elseif rest then
    redis.call('HSET', hashes, hash, rest)
  end
  for band = 1, #tags / 4 do
    take_from_bucket(KEYS[first + band - 1], wide, band, tag_at(tags, band), number)
  end
end

-- The text that a dropped one rests on, followed along replacements: its number and record, or nil.
local function rests_on(documents, record, cutoff)
  while state_of(record) == DROPPED do
    local number = twin_of(record)
    record = redis.call('HGET', documents, number)
    if not record or has_expired(record, cutoff) then return nil end
    if state_of(record) ~= DROPPED then return number, record end
  end
  return nil
end

local COUNTED = { a = 'active', h = 'held', d = 'dropped' }
