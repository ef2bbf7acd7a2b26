# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a Lua program of three parts: numbers, strings, tables."""

from pathlib import Path

PROGRAM = """
local steps, words = tonumber(arg[1]), tonumber(arg[2])
local x, y, vx, vy = 1.0, 0.0, 0.0, 0.9
for _ = 1, steps do
  local cube = (x * x + y * y) ^ 1.5
  vx, vy = vx - x / cube * 1e-3, vy - y / cube * 1e-3
  x, y = x + vx * 1e-3, y + vy * 1e-3
end
print(string.format("%.9f %.9f", x, y))
local pieces = {}
for number = 1, words do pieces[number] = string.format("%x", number * 7919 % 65521):rep(2) end
local text = table.concat(pieces, " ")
local _, found = text:gsub("%f[%x]a%x*%f[^%x]", "")
print(#text, found)
table.sort(pieces)
for number = 1, words, words // 10 do print(pieces[number]) end
"""

Path("work.lua").write_text(PROGRAM, encoding="ascii")
