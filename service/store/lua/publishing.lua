-- What `publish` and `publish_out` have in common: a transaction of a collection that has several partitions
-- happens here, at home, or is refused. Run twice, the second run finds its own items touched.
--
-- KEYS  1 settings  2 counters  3 redo log  4 unfinished transactions  5 unsettled
--       6, 7 items of the transactions of even and of odd generations
-- ARGV  1 revision  2 time in seconds  3 new texts  4 conflicts  5 log entries
--       6 the last entry that leaves the log, or ''  7 time of the oldest that stays, or ''
--       8 what is to be applied: goes into the redo log ('': nothing)
--       9 'v' only validates, 'r' something is ruled, or ''
--       then two lists of items that were read, each behind: the last transaction of their snapshot, how many
--       were unfinished in it, those, how many items; then how many items it writes, those; then
--       counters: name, by, …
-- Returns {'done', number or 0, new text, conflict, first entry, snapshot}, {'revision', current or false},
--   {'touched', by which transaction or 0 where the snapshot is too old or of another process, snapshot}
--   {'behind', an unfinished transaction that is in the way, snapshot}   {'exhausted'}
--     snapshot  {last transaction, {those that are not done}, unsettled}
local GENERATION, CHUNK, SKIPPED = 256, 1000, 1048576
local MOST_NUMBERS = 4294967039

local function snapshot_of(last)
  local unfinished = redis.call('ZRANGE', KEYS[4], 0, -1)
  for at, number in ipairs(unfinished) do unfinished[at] = tonumber(number) end
  return { last, unfinished, redis.call('HLEN', KEYS[5]) }
end

-- The transaction that touched one of the items since the snapshot (0: the snapshot is too old), and where
-- the arguments go on.
local function touched_since(at, kept_from)
  local last, count = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  local unfinished, first, oldest = {}, at + 2, last + 1
  for place = first, first + count - 1 do
    local number = tonumber(ARGV[place])
    unfinished[number] = true
    if number < oldest then oldest = number end
  end
  local items = tonumber(ARGV[first + count])
  local start = first + count + 1
  local following = start + items
  if items == 0 then return nil, following end
  if oldest < kept_from then return 0, following end
  for chunk = start, following - 1, CHUNK do
    local stop = math.min(chunk + CHUNK, following) - 1
    for key = 6, 7 do
      for _, touched in ipairs(redis.call('HMGET', KEYS[key], unpack(ARGV, chunk, stop))) do
        local number = touched and tonumber(touched)
        if number and (number > last or unfinished[number]) then return number, following end
      end
    end
  end
  return nil, following
end

-- Another process than the one that published last may have taken its place without its last transactions,
-- which others have heard of. So their numbers are left out, and no snapshot of before is taken any more.
local function began_anew(last, process)
  local unfinished = redis.call('ZRANGE', KEYS[4], 0, 0)[1]
  if unfinished then return { 'behind', tonumber(unfinished), snapshot_of(last) } end
  local first = (math.floor((last + SKIPPED) / GENERATION) + 1) * GENERATION
  redis.call('UNLINK', KEYS[6], KEYS[7])
  redis.call('HSET', KEYS[1], 'process', process, 'transactions', first)
  return { 'touched', 0, snapshot_of(first) }
end

local function published()
  local now = redis.call(
    'HMGET', KEYS[1], 'revision', 'transactions', 'next', 'conflicts', 'logged', 'oldest', 'process')
  if now[1] ~= ARGV[1] then return { 'revision', now[1] } end
  local last, process = tonumber(now[2] or 0), string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
  if now[7] and now[7] ~= process then return began_anew(last, process) end
  local kept_from = (math.floor(last / GENERATION) - 1) * GENERATION
  local at, touched = 10, nil
  for _ = 1, 2 do
    touched, at = touched_since(at, kept_from)
    if touched then return { 'touched', touched, snapshot_of(last) } end
  end
  local text, conflict, entry = tonumber(now[3]), tonumber(now[4] or 0) + 1, tonumber(now[5] or 0) + 1
  if ARGV[9] == 'v' then return { 'done', 0, text, conflict, entry, snapshot_of(last) } end
  local new, opened, entries = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
  if text + new - 1 > MOST_NUMBERS then return { 'exhausted' } end
  if ARGV[6] ~= '' and ARGV[7] == '' and tonumber(ARGV[6]) ~= entry - 1 then
    return { 'touched', last, snapshot_of(last) } -- an entry came that was not read
  end
  local number, written = last + 1, tonumber(ARGV[at])
  local generation = math.floor(number / GENERATION)
  local key = KEYS[6 + generation % 2]
  if number % GENERATION == 0 then
    for _, unfinished in ipairs(redis.call('ZRANGE', KEYS[4], 0, -1)) do
      if tonumber(unfinished) < (generation - 1) * GENERATION then
        return { 'behind', tonumber(unfinished), snapshot_of(last) }
      end
    end
    redis.call('UNLINK', key)
  end

  -- From here on it writes.
  local state = { 'transactions', number, 'process', process }
  local function set(name, value) state[#state + 1], state[#state + 2] = name, value end
  if new > 0 then set('next', text + new) end
  if opened > 0 then set('conflicts', conflict + opened - 1) end
  if ARGV[6] ~= '' then
    set('trimmed', ARGV[6])
    if ARGV[7] ~= '' then set('oldest', ARGV[7]) else redis.call('HDEL', KEYS[1], 'oldest') end
  end
  if entries > 0 then
    set('logged', entry + entries - 1)
    if not now[6] then set('oldest', ARGV[2]) set('trimmed', entry - 1) end
  end
  if ARGV[9] == 'r' then set('rulings', 1) end
  redis.call('HSET', KEYS[1], unpack(state))
  if new > 0 then redis.call('HSET', key, 't' .. pack32(text), number) end
  if opened > 0 then redis.call('HSET', key, 'c' .. pack32(conflict), number) end
  for chunk = at + 1, at + written, CHUNK do
    local pairs_of = {}
    for place = chunk, math.min(chunk + CHUNK - 1, at + written) do
      pairs_of[#pairs_of + 1], pairs_of[#pairs_of + 2] = ARGV[place], number
    end
    redis.call('HSET', key, unpack(pairs_of))
  end
  local by = {}
  for place = at + written + 1, #ARGV, 2 do by[ARGV[place]] = tonumber(ARGV[place + 1]) end
  if next(by) then raise(KEYS[2], by) end
  if ARGV[8] ~= '' then
    local clock = redis.call('TIME')
    local milliseconds = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
    redis.call('HSET', KEYS[3], number, struct.pack('>I4I4I4', text, conflict, entry) .. ARGV[8])
    redis.call('ZADD', KEYS[4], milliseconds, number)
  end
  return { 'done', number, text, conflict, entry, snapshot_of(number) }
end
