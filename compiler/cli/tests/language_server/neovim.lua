-- Drives one session; started by neovim.rs with the configuration that docs/editors.md gives.
-- Arguments in the environment: SESSION, the folder of the document, where results go.
local folder = vim.env.SESSION
local report = { steps = {} }

local function finish()
  local file = assert(io.open(folder .. "/report.json", "w"))
  file:write(vim.fn.json_encode(report))
  file:close()
  vim.cmd("qa!")
end

local function shown()
  local list = {}
  for _, found in ipairs(vim.diagnostic.get(0)) do
    local line = vim.api.nvim_buf_get_lines(0, found.lnum, found.lnum + 1, false)[1]
    table.insert(list, {
      code = found.code or vim.tbl_get(found, "user_data", "lsp", "code"),
      source = found.source,
      line = found.lnum,
      text = line:sub(found.col + 1, found.end_col),
    })
  end
  return list
end

-- Waits until as many findings are shown, and reports them.
local function expect(step, count)
  local came = vim.wait(15000, function() return #vim.diagnostic.get(0) == count end, 10)
  report.steps[step] = { came = came, shown = shown() }
end

local function client()
  local all = (vim.lsp.get_clients or vim.lsp.get_active_clients)()
  return all[1]
end

local function steps()
  vim.cmd("edit " .. folder .. "/agent.chatmd")
  expect("opened", 1)

  -- By typing, so that the server gets small edits: over the misspelt attribute, behind the signs
  -- that are one, two and four bytes long.
  vim.cmd([[normal! gg0/promt]] .. "\r" .. [[cwid]])
  vim.wait(50)
  vim.cmd([[silent! %s/<!-- é😀 -->/<!-- 😀é😀 -->/]])
  expect("repaired", 0)

  vim.cmd([[normal! Go<nothing/>]])
  expect("broken again", 1)
  vim.cmd([[normal! Gdd]])
  expect("undone", 0)

  -- Random edits of all lengths; then both sides have the same text.
  math.randomseed(7)
  local words = { "é", "😀", "x", "<user>", "</user>", " ", "日本", "" }
  for _ = 1, 200 do
    local last = vim.api.nvim_buf_line_count(0)
    local row = math.random(0, last - 1)
    local line = vim.api.nvim_buf_get_lines(0, row, row + 1, false)[1]
    local starts = vim.str_utf_pos and vim.str_utf_pos(line) or { 1 }
    local from = (starts[math.random(1, math.max(#starts, 1))] or 1) - 1
    local new = { words[math.random(1, #words)] }
    if math.random(1, 4) == 1 then table.insert(new, words[math.random(1, #words)]) end
    if math.random(1, 5) == 1 then from = math.min(from, 0) end
    vim.api.nvim_buf_set_text(0, row, from, row, math.random(1, 3) == 1 and #line or from, new)
  end
  local answer = client().request_sync(
    "chatmd/syntaxTree",
    { textDocument = { uri = vim.uri_from_bufnr(0) } },
    15000,
    vim.api.nvim_get_current_buf() -- by number: its edits are sent first
  )
  report.server_text = answer and answer.result or vim.NIL
  report.buffer_text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n") .. "\n"

  -- The other side looks at the processes now.
  io.open(folder .. "/running", "w"):close()
  report.looked_at = vim.wait(15000, function()
    return vim.fn.filereadable(folder .. "/looked") == 1
  end, 10)
end

local ok, failure = pcall(steps)
report.failure = ok and "" or tostring(failure)
report.version = tostring(vim.version().minor)
finish()
