-- What `publish` and `publish_out` have in common: a transaction of a collection that has several partitions
-- happens here, at home, or is refused. Run twice, the second run finds its own items touched.
--
-- KEYS  1 settings  2 counters  3 redo log  4 unfinished transactions  5 unsettled  6, 7 history (history.lua)
-- ARGV  1 revision  2 time in seconds  3 new texts  4 conflicts  5 log entries
--       6 the last entry that leaves the log, or ''  7 time of the oldest that stays, or ''
--       8 what is to be applied: goes into the redo log ('': nothing)
--       9 'v' only validates, 'r' something is ruled, or ''
--       then what was read at two moments, each: the last transaction of its snapshot, how many were
--       unfinished in it, those, the tags of the texts that were looked for, '1' where only the last of
--       them counts (of one text), items; then how many texts it brings into buckets, their tags, items that it writes;
--       then how many transactions are done, their numbers; then counters: name, by, …
--       Tags and items are joined: a tag has four bytes, an item five.
-- Returns {'done', number or 0, new text, conflict, first entry, snapshot}, {'revision', current or false},
--   {'touched', by which transaction or 0 where the snapshot is too old, snapshot}
--   {'behind', an unfinished transaction that is in the way, snapshot}   {'exhausted'}
--     snapshot  {last transaction, {those that are not done}, unsettled}
local LEAP = 65536
local MOST_NUMBERS = 4294967039
local A_MILLISECOND = 64

local function snapshot_of(last, unfinished)
  return { last, unfinished, redis.call('HLEN', KEYS[5]) }
end

-- What was read at one moment, and where the arguments go on.
local function read_at(at)
  local read = { last = tonumber(ARGV[at]), unfinished = {} }
  local following = at + 2 + tonumber(ARGV[at + 1])
  read.oldest = read.last
  for place = at + 2, following - 1 do
    local number = tonumber(ARGV[place])
    read.unfinished[number] = true
    if number <= read.oldest then read.oldest = number - 1 end
  end
  read.tags, read.only_equal, read.items = ARGV[following], ARGV[following + 1] == '1', ARGV[following + 2]
  return read, following + 3
end

local function number_behind(last)
  local clock = redis.call('TIME')
  local milliseconds = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
  return math.max(last + 1, milliseconds * A_MILLISECOND)
end

-- Another process of the server than the one that published last: a replica that was promoted, or one that
-- was started again. It may lack the last transactions, of which others have heard or applied pieces. So no
-- number of theirs is given again, and who read before reads again.
local function began_anew(now, run, last, unfinished)
  if unfinished[1] then return { 'behind', unfinished[1], snapshot_of(last, unfinished) } end
  local number = number_behind(last)
  redis.call('HSET', KEYS[1], 'run', run, 'transactions', string.format('%.0f', number),
    'next', tonumber(now[3]) + LEAP, 'conflicts', tonumber(now[4] or 0) + LEAP)
  forget_before(number)
  return { 'touched', 0, snapshot_of(number, unfinished) }
end

local function published()
  local now = redis.call(
    'HMGET', KEYS[1], 'revision', 'transactions', 'next', 'conflicts', 'logged', 'oldest', 'run')
  if now[1] ~= ARGV[1] then return { 'revision', now[1] } end
  local looked, at = read_at(10)
  local read, at = read_at(at)
  local done = tonumber(ARGV[at + 3])
  if done > 0 then
    redis.call('ZREM', KEYS[4], unpack(ARGV, at + 4, at + 3 + done))
    redis.call('HDEL', KEYS[3], unpack(ARGV, at + 4, at + 3 + done))
  end
  local last, unfinished = tonumber(now[2] or 0), redis.call('ZRANGE', KEYS[4], 0, -1)
  for place, number in ipairs(unfinished) do unfinished[place] = tonumber(number) end
  local run = run_of_server()
  if now[7] and now[7] ~= run then return began_anew(now, run, last, unfinished) end
  local touched = touched_since({ looked, read }, last)
  -- All that is read while one is unfinished rests on what was before it: it is to be finished first.
  if touched == 0 and unfinished[1] then touched = unfinished[1] end
  if touched then return { 'touched', touched, snapshot_of(last, unfinished) } end

  local text, conflict, entry = tonumber(now[3]), tonumber(now[4] or 0) + 1, tonumber(now[5] or 0) + 1
  if ARGV[9] == 'v' then return { 'done', 0, text, conflict, entry, snapshot_of(last, unfinished) } end
  local new, opened, entries = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
  if text + new - 1 > MOST_NUMBERS then return { 'exhausted' } end
  if ARGV[6] ~= '' and ARGV[7] == '' and tonumber(ARGV[6]) ~= entry - 1 then
    return { 'touched', last, snapshot_of(last, unfinished) } -- an entry came that was not read
  end
  local in_the_way = make_room(unfinished)
  if in_the_way then return { 'behind', in_the_way, snapshot_of(last, unfinished) } end
  local number = number_behind(last)
  local written = string.format('%.0f', number)

  -- From here on it writes.
  local state = { 'transactions', written, 'run', run }
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
  local brought, items = tonumber(ARGV[at]), ARGV[at + 2]
  for at_new = text, text + new - 1 do items = items .. 't' .. pack32(at_new) end
  if opened > 0 then items = items .. 'c' .. pack32(conflict) end
  note(number, brought, ARGV[at + 1], items)
  local by = {}
  for place = at + 4 + done, #ARGV, 2 do by[ARGV[place]] = tonumber(ARGV[place + 1]) end
  if next(by) then raise(KEYS[2], by) end
  if ARGV[8] ~= '' then
    redis.call('HSET', KEYS[3], written, struct.pack('>I4I4I4', text, conflict, entry) .. ARGV[8])
    redis.call('ZADD', KEYS[4], written, written)
    unfinished[#unfinished + 1] = number
  end
  return { 'done', number, text, conflict, entry, snapshot_of(number, unfinished) }
end
