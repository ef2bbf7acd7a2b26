#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each read's name says its place and strand: 99 in 100 reads must be aligned there.
set -eu
trap 'rm -f check.paf' EXIT
source/minimap2 -t 1 -x map-ont genome-small.fa reads-small.fa >check.paf
awk -v reads="$(grep -c '^>' reads-small.fa)" '
{ split($1, origin, "_") }
!seen[$1]++ && $5 == origin[4] && $8 < origin[3] && $9 > origin[2] { right++ }
END { exit !(reads > 0 && right >= 0.99 * reads) }
' check.paf
