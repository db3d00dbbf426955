-- What the last transactions of a collection touched, so that one is refused which rests on what another has
-- changed since it was read.
--
-- KEYS  6 history: what each touched: how many bytes the tags of a text have, how many texts it brought,
--         their tags, items
--       7 ends: the number of each, and where in the history it ends. The first entry is of one that the
--         history has no more: all that was read before it was read too long ago
local TAG, ITEM = 4, 5
local AN_END = 12
local LAST_ENDS = 64
local LEAST_KEPT, MOST_KEPT = 512, 1024
-- Bytes that are searched at most, and kept: what was read before them was read too long ago.
local MOST_SEARCHED, MOST_BYTES = 262144, 1048576
local FEW = 256

local function number_at(ends, place)
  return (struct.unpack('>I8', ends, (place - 1) * AN_END + 1))
end

local function end_at(ends, place)
  return u32(ends, (place - 1) * AN_END + 9)
end

-- The ends from one on whose number is not above this; nil where there is none any more.
local function ends_from(number)
  for _, first in ipairs({ -LAST_ENDS * AN_END, 0 }) do
    local ends = redis.call('GETRANGE', KEYS[7], first, -1)
    if ends == '' or number_at(ends, 1) <= number then return ends end
  end
  return nil
end

-- The last place whose number is not above this, where the first is not.
local function place_of(ends, number)
  local place, above = 1, #ends / AN_END + 1
  while above - place > 1 do
    local middle = math.floor((place + above) / 2)
    if number_at(ends, middle) <= number then place = middle else above = middle end
  end
  return place
end

-- Whether some of these parts is anywhere in a string.
local function has_any(joined, parts, size)
  for at = 1, #parts, size do
    if string.find(joined, string.sub(parts, at, at + size - 1), 1, true) then return true end
  end
  return false
end

-- Whether transactions may have touched what was read: mostly none did, and where few parts are looked for, a
-- search for each in all of them at once is soonest done.
local function may_touch(joined, read)
  local tags = read.only_equal and string.sub(read.tags, -TAG) or read.tags
  if #tags / TAG + #read.items / ITEM > FEW then return true end
  return has_any(joined, tags, TAG) or has_any(joined, read.items, ITEM)
end

-- What was read as sets: of the tags in each band, counted by their place in the tags of a text, and of items.
local function sets_of(read, size)
  local bands, items = {}, {}
  for place = read.only_equal and math.max(#read.tags - TAG, 0) or 0, #read.tags - 1, TAG do
    local band = place % size
    bands[band] = bands[band] or {}
    bands[band][string.sub(read.tags, place + 1, place + TAG)] = true
  end
  for at = 1, #read.items, ITEM do items[string.sub(read.items, at, at + ITEM - 1)] = true end
  return { bands = bands, items = items }
end

-- Whether the transaction from a place to another one touched what was read.
local function touches(joined, from, to, read)
  local size, count = struct.unpack('>I2I2', joined, from)
  local tags = from + 4
  local items = tags + count * size
  if not read.sets or count > 0 and read.size ~= size then
    read.sets, read.size = sets_of(read, count > 0 and size or #read.tags), size
  end
  for text = 0, read.tags ~= '' and count - 1 or -1 do
    for band, own in pairs(read.sets.bands) do
      local at = tags + text * size + band
      if own[string.sub(joined, at, at + TAG - 1)] then return true end
    end
  end
  for at = items, to, ITEM do
    if read.sets.items[string.sub(joined, at, at + ITEM - 1)] then return true end
  end
  return false
end

-- The transaction that touched something since it was read (0: it was read too long ago), or nil. `reads`: each
-- `last` and `unfinished` of its snapshot, `oldest` that was not done in it, `tags`, `only_equal`, `items`.
local function touched_since(reads, last)
  local oldest = last
  for _, read in ipairs(reads) do
    if (read.tags ~= '' or read.items ~= '') and read.oldest < oldest then oldest = read.oldest end
  end
  if oldest == last then return nil end
  local ends = ends_from(oldest)
  if not ends then return 0 end
  local before, count = place_of(ends, oldest), #ends / AN_END
  if before >= count then return nil end
  local first = end_at(ends, before)
  if end_at(ends, count) - first > MOST_SEARCHED then return 0 end
  local joined = redis.call('GETRANGE', KEYS[6], first, -1)
  for _, read in ipairs(reads) do
    if may_touch(joined, read) then
      for place = count, before + 1, -1 do
        local number = number_at(ends, place)
        local from, to = end_at(ends, place - 1) - first + 1, end_at(ends, place) - first
        if (number > read.last or read.unfinished[number]) and touches(joined, from, to, read) then
          return number
        end
      end
    end
  end
  return nil
end

-- The last place that leaves where there are too many or too large: at most half of each stays.
local function last_to_leave(ends, many)
  local place, all = math.max(many - LEAST_KEPT, 1), end_at(ends, many)
  while place < many and all - end_at(ends, place) > MOST_BYTES / 2 do place = place + 1 end
  return place
end

-- Sees to it that there is room for one more; the transaction that is in the way where those that would leave are
-- not all done, or nil.
local function make_room(unfinished)
  local many = redis.call('STRLEN', KEYS[7]) / AN_END
  if many < MOST_KEPT and redis.call('STRLEN', KEYS[6]) < MOST_BYTES then return nil end
  local ends = redis.call('GETRANGE', KEYS[7], 0, -1)
  local leave = last_to_leave(ends, many)
  if unfinished[1] and unfinished[1] <= number_at(ends, leave) then return unfinished[1] end
  local cut, kept = end_at(ends, leave), {}
  for place = leave, many do
    kept[#kept + 1] = struct.pack('>I8I4', number_at(ends, place), end_at(ends, place) - cut)
  end
  redis.call('SET', KEYS[6], redis.call('GETRANGE', KEYS[6], cut, -1))
  redis.call('SET', KEYS[7], table.concat(kept))
  return nil
end

-- Begins anew behind a number: all that was read before was read too long ago.
local function forget_before(number)
  redis.call('UNLINK', KEYS[6])
  redis.call('SET', KEYS[7], struct.pack('>I8I4', number, 0))
end

-- Notes what a transaction touches.
local function note(number, texts, tags, items)
  local size = texts > 0 and #tags / texts or 0
  local ends_at = redis.call('APPEND', KEYS[6], struct.pack('>I2I2', size, texts) .. tags .. items)
  local written = struct.pack('>I8I4', number, ends_at)
  if redis.call('APPEND', KEYS[7], written) == #written then -- the first that there ever was
    redis.call('SET', KEYS[7], struct.pack('>I8I4', 0, 0) .. written)
  end
end
