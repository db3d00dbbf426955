#!lua flags=no-writes
-- read: documents as they stand, all of one instant: one by its id, or a run of them by number.
--
-- KEYS  1 settings  2 ids  3 documents  4 texts  5 metadata  6 twins  7 conflicts
-- ARGV  1 id, or '' for a run  2 first number  3 most documents  4 most numbers to try
--       5 state or ''  6 family or '' (packed)  7 orphaned: '1', '0' or ''
--       8 what was last seen before this has expired (seconds, 0: nothing does)
--       9 revision  10 most copies to name for a document
-- Returns {'revision', current or false}, or {next number to try or false, document, …}, a document
--   being {number, record, text or false, metadata or false, orphaned 0 or 1,
--          records of the copies dropped for it, 1 where there are more of these,
--          record of what it was dropped for or false, status of its conflict or false,
--          {record, text, metadata or false} of its pending text or {}}
local settings, ids, documents, texts, metadata, twins, conflicts =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local cutoff = tonumber(ARGV[8])
local wanted_state, wanted_family, wanted_orphaned = ARGV[5], ARGV[6], ARGV[7]

local current = redis.call('HGET', settings, 'revision')
if current ~= ARGV[9] then return { 'revision', current } end
local most_copies = tonumber(ARGV[10])

-- The number of the main text under an id, and that of a pending one or ''.
local function main_of(id)
  local entry = redis.call('HGET', ids, id)
  if not entry then return false, '' end
  return string.sub(entry, 1, 4), string.sub(entry, 5)
end

local function copies_of(number)
  local edges = redis.call(
    'ZRANGEBYLEX', twins, '[' .. number, '[' .. number .. '\255\255\255\255',
    'LIMIT', 0, most_copies + 1)
  local records = {}
  for _, edge in ipairs(edges) do
    local copy = redis.call('HGET', documents, string.sub(edge, 5))
    local stands = main_of(id_of(copy)) == string.sub(edge, 5)
    if #records < most_copies and stands and not has_expired(copy, cutoff) then
      records[#records + 1] = copy
    end
  end
  return records, #edges > most_copies and 1 or 0
end

local function orphaned(record)
  if state_of(record) ~= DROPPED then return '0' end
  return rests_on(documents, record, cutoff) and '0' or '1'
end

local function document(number, record)
  local copies, more = copies_of(number)
  local survivor = state_of(record) == DROPPED and redis.call('HGET', documents, survivor_of(record))
  local conflict = redis.call('HGET', conflicts, conflict_of(record))
  local _, waiting = main_of(id_of(record))
  local pending = {}
  if waiting ~= '' then
    local more_copies, even_more = copies_of(waiting)
    for _, copy in ipairs(more_copies) do copies[#copies + 1] = copy end
    more = math.max(more, even_more)
    pending = { redis.call('HGET', documents, waiting), redis.call('HGET', texts, waiting),
      redis.call('HGET', metadata, waiting) }
  end
  return { number, record, redis.call('HGET', texts, number),
    redis.call('HGET', metadata, number), tonumber(orphaned(record)), copies, more,
    survivor, conflict and string.sub(conflict, 1, 1), pending }
end

if ARGV[1] ~= '' then
  local number, waiting = main_of(ARGV[1])
  local record = number and redis.call('HGET', documents, number)
  -- What waits for a ruling keeps its document from expiring.
  if not record or (waiting == '' and has_expired(record, cutoff)) then return { false } end
  return { false, document(number, record) }
end

local function wanted(record)
  if has_expired(record, cutoff) then return false end
  if wanted_state ~= '' and state_of(record) ~= wanted_state then return false end
  if wanted_family ~= '' and string.sub(record, 6, 9) ~= wanted_family then return false end
  return wanted_orphaned == '' or orphaned(record) == wanted_orphaned
end

local ends = tonumber(redis.call('HGET', settings, 'next') or 0)
local at, tried, most, result = tonumber(ARGV[2]), 0, tonumber(ARGV[3]), { false }
while at < ends and #result - 1 < most and tried < tonumber(ARGV[4]) do
  local number = pack32(at)
  local record = redis.call('HGET', documents, number)
  if record and wanted(record) and main_of(id_of(record)) == number then result[#result + 1] = document(number, record) end
  at, tried = at + 1, tried + 1
end
if at < ends then result[1] = at end
return result
