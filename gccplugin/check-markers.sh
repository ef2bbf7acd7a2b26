#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The compiler driver runs this after it linked an executable in adapt mode (link.specs). It warns if
# the executable has none of the plan's markers and sites, which no single unit can know. It is only
# a warning: configure scripts and helper programs of the same tree are linked with the same plan.
#   check-markers [-o OUTPUT]
set -eu
# A plan may have nothing but counts.
grep -Eq '"(kind|calls)": ' "$KADENCE_PLAN" || exit 0
output=a.out
if [ "${1:-}" = -o ]; then
	output=$2
fi
symbols=$(nm -- "$output" 2>/dev/null) || exit 0
# A stripped program has no symbols to check.
if [ -z "$symbols" ]; then
	exit 0
fi
# A unit that received a marker or has a site defines kadapt_plan; libkadapt alone only refers to it (w).
case $symbols in
*' '[!wUv]' kadapt_plan'*) ;;
*)
	printf 'kadence: warning: none of the markers and sites of %s is in %s; if that is the profiled program, the plan was made for another program: profile it and plan again\n' \
		"$KADENCE_PLAN" "$output" >&2
	;;
esac
