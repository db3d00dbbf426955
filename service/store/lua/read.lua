#!lua flags=no-writes
-- read: documents as they stand, all of one instant: one by its id, or a run of them by number.
--
-- KEYS  1 settings  2 ids  3 documents  4 texts  5 metadata  6 twins
-- ARGV  1 id, or '' for a run  2 first number  3 most documents  4 most numbers to try
--       5 state or ''  6 family or '' (packed)  7 orphaned: '1', '0' or ''
--       8 what was last seen before this has expired (seconds, 0: nothing does)
--       9 revision  10 most copies to name for a document  11 '' to leave texts out
-- Returns {'revision', current or false}, or {next number to try or false, document, …}, a document
--   being {number, record, text or false, metadata or false, orphaned 0 or 1,
--          records of the copies dropped for it, 1 where there are more of these}
local settings, ids, documents, texts, metadata, twins =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local cutoff = tonumber(ARGV[8])
local wanted_state, wanted_family, wanted_orphaned = ARGV[5], ARGV[6], ARGV[7]

local current = redis.call('HGET', settings, 'revision')
if current ~= ARGV[9] then return { 'revision', current } end
local most_copies, with_texts = tonumber(ARGV[10]), ARGV[11] ~= ''

local function copies_of(number)
  local edges = redis.call(
    'ZRANGEBYLEX', twins, '[' .. number, '[' .. number .. '\255\255\255\255',
    'LIMIT', 0, most_copies + 1)
  local records = {}
  for _, edge in ipairs(edges) do
    local copy = redis.call('HGET', documents, string.sub(edge, 5))
    if #records < most_copies and not has_expired(copy, cutoff) then
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
  return { number, record, with_texts and redis.call('HGET', texts, number),
    redis.call('HGET', metadata, number), tonumber(orphaned(record)), copies, more }
end

if ARGV[1] ~= '' then
  local number = redis.call('HGET', ids, ARGV[1])
  local record = number and redis.call('HGET', documents, number)
  if not record or has_expired(record, cutoff) then return { false } end
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
  if record and wanted(record) then result[#result + 1] = document(number, record) end
  at, tried = at + 1, tried + 1
end
if at < ends then result[1] = at end
return result
