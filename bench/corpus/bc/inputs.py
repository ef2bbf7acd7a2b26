# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes programs for bc: digits of e, a factorial, and primes."""

from pathlib import Path

PROGRAM = """
scale = {digits}
e(1)
define f(n) {{ auto p; for (p = 1; n > 1; n--) p *= n; return p }}
scale = 0
f({factorial}) % 1000007
c = 0
for (n = 3; n < {primes}; n += 2) {{ for (d = 3; d * d <= n; d += 2) if (n % d == 0) break
  if (d * d > n) c += 1 }}
c
quit
"""
SIZES = {"long": (900, 1600, 9000), "small": (250, 500, 1800), "other": (300, 400, 2100)}

for name, (digits, factorial, primes) in SIZES.items():
    text = PROGRAM.format(digits=digits, factorial=factorial, primes=primes)
    Path(f"{name}.bc").write_text(text, encoding="ascii")
