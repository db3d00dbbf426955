-- What every script shares; Python puts it between a script's first line and its body.
--
-- A document's record is one packed string (store/records.py). Read here:
--   1 state ('a' active, 'h' held, 'd' dropped, 'g' gone)   2-5 shingles   6-9 family
--   10-13 number of the survivor that a dropped one rests on   29-34 updated at
--   35-38 last seen (seconds)   39-70, 71-102 SHA-256 of the bytes as posted and as normalised
--   106-109 the log entry that put it where it is   110-113 the last conflict that it came into
-- An id's entry is the number of its main text, and behind it that of a pending one, if any.
-- Numbers are 32-bit, big-endian. A text's number is given at its registration, rises, and is
-- never used twice in a collection; an update is a new number.
--
-- Tags are four bytes, one a band and a last one of the normalised hash, which is kept as one more
-- band. A bucket is the list of numbers whose texts share a tag. Its entry in the band's shard (a hash
-- small enough for the compact encoding) is the number itself where there is one, as most buckets
-- hold one text and the server packs numbers well; 'p' and the packed numbers up to INLINE_MOST; 'w'
-- where more have moved to the hash `wide`, which lists WIDE_MOST of them and counts the rest.

local INLINE_MOST = 15
local WIDE_MOST = 256
local WIDE, PACKED = 'w', 'p'
local ACTIVE, HELD, DROPPED, GONE = 'a', 'h', 'd', 'g'

-- The keys of a partition, in the order in which most scripts are given them.
local function main_keys()
  return {
    settings = KEYS[1], counters = KEYS[2], ids = KEYS[3], documents = KEYS[4], texts = KEYS[5],
    twins = KEYS[6], metadata = KEYS[7], wide = KEYS[8],
  }
end

local function u32(packed, at)
  return struct.unpack('>I4', packed, at or 1)
end

local function pack32(number)
  return struct.pack('>I4', number)
end

-- Which process of the server this is: another one after a failover or a restart.
local OF_SERVER = 'server'
local function run_of_server()
  return string.match(redis.call('INFO', OF_SERVER), 'run_id:(%w+)')
end

local function state_of(record) return string.sub(record, 1, 1) end
local function survivor_of(record) return string.sub(record, 10, 13) end
local function hashes_of(record) return string.sub(record, 39, 102) end
-- The name under which the log index has entries and conflicts that name an id.
local function entry_name(id) return string.sub(redis.sha1hex(id), 1, 12) end
local function conflict_name(id) return 'x' .. entry_name(id) end

-- Where the lists of conflicts have a conflict as it is written: an open one by age and by score (the
-- most alike first, then the oldest), a closed one by its status, the newest first; each in the list of
-- all (0) and in that of each kind of change that it has (its bit in the head, counted from 1).
local MOST_KINDS = 16
local function inverted(bytes)
  return (string.gsub(bytes, '.', function(byte) return string.char(255 - string.byte(byte)) end))
end
local function places_of(written, number)
  local status, age = string.sub(written, 1, 1), string.sub(written, 10, 15) .. number
  local kinds, places = struct.unpack('>H', written, 24), {}
  for kind = 0, MOST_KINDS do
    if kind == 0 or math.floor(kinds / 2 ^ (kind - 1)) % 2 == 1 then
      local list = string.char(kind)
      if status == 'o' then
        places[#places + 1] = 'a' .. list .. age
        places[#places + 1] = 's' .. list .. inverted(string.sub(written, 16, 23)) .. age
      else
        places[#places + 1] = status .. list .. inverted(age)
      end
    end
  end
  return places
end

local function id_of(record)
  return string.sub(record, 121, 120 + struct.unpack('>H', record, 114))
end
local function decision_of(record) return string.sub(record, 106, 109) end
local function conflict_of(record) return string.sub(record, 110, 113) end
local function is_indexed(record)
  local state = state_of(record)
  return state == ACTIVE or state == HELD
end

-- Whether a document was neither posted nor matched since `cutoff` (seconds, 0: nothing expires).
local function has_expired(record, cutoff)
  local state = state_of(record)
  return cutoff > 0 and (state == ACTIVE or state == DROPPED) and u32(record, 35) < cutoff
end

local function with_seen(record, seconds)
  return string.sub(record, 1, 34) .. pack32(seconds) .. string.sub(record, 39)
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

local function list_of(entry)
  if string.sub(entry, 1, 1) == PACKED then return string.sub(entry, 2) end
  return pack32(tonumber(entry))
end

local function entry_of(list)
  if #list == 4 then return string.format('%.0f', u32(list)) end
  return PACKED .. list
end

-- The numbers that a bucket lists, packed, and how many more it holds. `entry` is what its shard has.
local function members_of(entry, wide, band, tag)
  if not entry then return '', 0 end
  if entry ~= WIDE then return list_of(entry), 0 end
  local listed = redis.call('HGET', wide, string.char(band) .. tag)
  return string.sub(listed, 5), u32(listed)
end

-- A packed list with one number more, in order: mostly the new one is the highest.
local function with(list, number)
  local at = #list
  while at > 0 and string.sub(list, at - 3, at) > number do at = at - 4 end
  return string.sub(list, 1, at) .. number .. string.sub(list, at + 1)
end

local function add_to_bucket(shard, wide, band, tag, number)
  local first = string.format('%.0f', u32(number))
  if redis.call('HSETNX', shard, tag, first) == 1 then return end
  local entry = redis.call('HGET', shard, tag)
  local name = string.char(band) .. tag
  if entry == WIDE then
    local listed = redis.call('HGET', wide, name)
    if #listed < 4 + WIDE_MOST * 4 then
      redis.call('HSET', wide, name, string.sub(listed, 1, 4) .. with(string.sub(listed, 5), number))
    else
      redis.call('HSET', wide, name, pack32(u32(listed) + 1) .. string.sub(listed, 5))
    end
    return
  end
  local list = with(list_of(entry), number)
  if #list <= INLINE_MOST * 4 then
    redis.call('HSET', shard, tag, entry_of(list))
  else
    redis.call('HSET', wide, name, pack32(0) .. list)
    redis.call('HSET', shard, tag, WIDE)
  end
end

-- The bands of a record's signature, as a list, and how many bytes each has.
local function bands_of(record, bands)
  local name, match, signed = struct.unpack('>HHH', record, 114)
  local width, first, cut = signed / bands, 121 + name + match, {}
  for band = 1, bands do
    cut[band] = string.sub(record, first + (band - 1) * width, first + band * width - 1)
  end
  return cut
end

-- Raises counters (name -> by); two commands however many there are.
local function raise(counters, by)
  local names, written = {}, {}
  for name in pairs(by) do names[#names + 1] = name end
  local values = redis.call('HMGET', counters, unpack(names))
  for at, name in ipairs(names) do
    written[at * 2 - 1] = name
    written[at * 2] = string.format('%.0f', (tonumber(values[at]) or 0) + by[name])
  end
  redis.call('HSET', counters, unpack(written))
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
    local rest = without(list_of(entry), number)
    if rest == '' then
      redis.call('HDEL', shard, tag)
    elseif rest then
      redis.call('HSET', shard, tag, entry_of(rest))
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

-- The text that a dropped one rests on, followed along replacements: its number and record, or nil.
local function rests_on(documents, record, cutoff)
  while state_of(record) == DROPPED do
    local number = survivor_of(record)
    record = redis.call('HGET', documents, number)
    if not record or state_of(record) == GONE then return nil end
    if state_of(record) ~= DROPPED then
      if has_expired(record, cutoff) then return nil end
      return number, record
    end
  end
  return nil
end

