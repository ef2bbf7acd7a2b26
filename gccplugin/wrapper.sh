#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# @NAME@: @COMPILER@ with Kadence's plugin. It takes all of @COMPILER@'s options.
#
#   KADENCE_MODE=plain   records the shapes of functions in every object (the default)
#   KADENCE_MODE=adapt   also announces the phases of KADENCE_PLAN (the default if it is set)
#   KADENCE_MODE=profile counts basic blocks: the program writes its own profile when it runs
#   KADENCE_PROFILE=fast|exact  how it counts (fast is the default)
#   KADENCE_PLAN=FILE    a plan made by `kadence plan`
#   KADENCE_FLAGS=…      options that come after all others, separated by spaces

set -euf

fail()
{
	printf '@NAME@: %s\n' "$1" >&2
	exit 1
}

self=$0
if [ -L "$self" ]; then
	self=$(readlink -f -- "$self")
fi
KADENCE_PARTS=${self%/*}/..
plugin=$KADENCE_PARTS/gccplugin/kadence.so

mode=${KADENCE_MODE:-}
if [ -z "$mode" ]; then
	mode=${KADENCE_PLAN:+adapt}
	mode=${mode:-plain}
fi
command -v @COMPILER@ >/dev/null ||
	fail '@COMPILER@ is not on PATH; install it: apt-get install @PACKAGE@'
[ -r "$plugin" ] || fail "$plugin is missing; make it: make build"

# They are words, so they are not quoted; -f above keeps them from being file names.
# shellcheck disable=SC2086
set -- "$@" ${KADENCE_FLAGS:-}

case $mode in
plain)
	# A profile needs lines. -g changes no code, and the caller's own -g options come later.
	exec @COMPILER@ -fplugin="$plugin" -g "$@"
	;;
adapt)
	[ -n "${KADENCE_PLAN:-}" ] ||
		fail 'KADENCE_PLAN is not set; give it the path of a plan, or set KADENCE_MODE=plain'
	[ -r "$KADENCE_PARTS/kadapt/libkadapt.a" ] ||
		fail "$KADENCE_PARTS/kadapt/libkadapt.a is missing; make it: make build"
	# A compiler cache behind @COMPILER@ must know that the plan is an input.
	CCACHE_EXTRAFILES=${CCACHE_EXTRAFILES:+$CCACHE_EXTRAFILES:}$KADENCE_PLAN
	export KADENCE_PARTS CCACHE_EXTRAFILES
	exec @COMPILER@ -specs="$KADENCE_PARTS/gccplugin/link.specs" -fplugin="$plugin" \
		-fplugin-arg-kadence-plan="$KADENCE_PLAN" "$@"
	;;
profile)
	[ -r "$KADENCE_PARTS/profiler/libkprofile.a" ] ||
		fail "$KADENCE_PARTS/profiler/libkprofile.a is missing; make it: make build"
	case ${KADENCE_PROFILE:-fast} in
	fast | exact) ;;
	*) fail "KADENCE_PROFILE is '$KADENCE_PROFILE'; it must be fast or exact" ;;
	esac
	export KADENCE_PARTS
	# Counted code must not be compiled at link time. A counter moves the code behind it, and a
	# short loop that then lies across two cache lines takes half as long again. The caller's own
	# -falign-loops come later.
	exec @COMPILER@ -specs="$KADENCE_PARTS/gccplugin/profile.specs" -fplugin="$plugin" \
		-fplugin-arg-kadence-profile="${KADENCE_PROFILE:-fast}" -g -falign-loops=64 \
		"$@" -fno-lto
	;;
*)
	fail "KADENCE_MODE is '$mode'; it must be plain, adapt or profile"
	;;
esac
