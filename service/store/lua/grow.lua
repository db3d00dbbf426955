#!lua
-- grow: splits the next shards, one after the other, where the index holds more than they should.
-- A verb of its own, so that no commit waits for it or fails with it. Of several that ask for the
-- same split one does it.
--
-- KEYS  1 settings  2.. for each split: the shard, and the one that takes half of it
-- ARGV  1 revision  2 level  3 split  4 how many tags a text has
-- Returns {'done', level, split}, {'revision', …}, or {'shards', level, split} where others were first
local CHUNK = 500 -- Lua passes a limited number of arguments
local settings, bands = KEYS[1], tonumber(ARGV[4])
local now = redis.call('HMGET', settings, 'revision', 'level', 'split')
if now[1] ~= ARGV[1] then return { 'revision', now[1] } end
local level, split = tonumber(now[2]), tonumber(now[3])
if level ~= tonumber(ARGV[2]) or split ~= tonumber(ARGV[3]) then
  return { 'shards', level, split }
end

local function move_half(from, to, shard, size)
  local all, moved, gone = redis.call('HGETALL', from), {}, {}
  local function flush()
    if #gone == 0 then return end
    redis.call('HSET', to, unpack(moved))
    redis.call('HDEL', from, unpack(gone))
    moved, gone = {}, {}
  end
  for at = 1, #all, 2 do
    if u32(all[at]) % (2 * size) ~= shard then
      moved[#moved + 1], moved[#moved + 2] = all[at], all[at + 1]
      gone[#gone + 1] = all[at]
      if #gone == CHUNK then flush() end
    end
  end
  flush()
end

for at = 2, #KEYS, 2 do
  local size = 2 ^ level
  move_half(KEYS[at], KEYS[at + 1], math.floor(split / bands), size)
  split = split + 1
  if split >= bands * size then level, split = level + 1, 0 end
end
redis.call('HSET', settings, 'level', level, 'split', split)
return { 'done', level, split }
