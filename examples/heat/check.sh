#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The fundamental mode on 63 cells. After s steps the middle cell holds (1 - 8 r sin^2(pi/128))^s,
# and each of the 4 x 4 sampled cells holds that factor times its two sines.
set -eu
trap 'rm -f check.checkpoint check.checkpoint.out' EXIT
./heat -m -n 63 -s 100 -e 50 -g 16 -o check.checkpoint >check.checkpoint.out
awk '
function factor(steps) { return (1 - 8 * 0.2 * sin(pi / 128) ^ 2) ^ steps }
function far(a, b) { return (a > b ? a - b : b - a) > 1e-10 }
BEGIN { pi = atan2(0, -1) }
FNR == NR { records++
	if (far($4, factor($1) * sin(pi * $2 / 64) * sin(pi * $3 / 64))) wrong++
	next }
/^hottest/ { if (far($3, factor(100))) wrong++ }
END { exit !(records == 32 && wrong == 0) }
' check.checkpoint check.checkpoint.out
