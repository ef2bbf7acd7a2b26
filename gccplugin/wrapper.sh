#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# @NAME@: @COMPILER@-@RELEASE@ with Kadence's plugin. It takes all of the compiler's options.
#
#   KADENCE_COMPILER=COMMAND another compiler, such as @COMPILER@-14 or "ccache @COMPILER@-14"
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

mode=${KADENCE_MODE:-}
if [ -z "$mode" ]; then
	mode=${KADENCE_PLAN:+adapt}
	mode=${mode:-plain}
fi

compiler=${KADENCE_COMPILER:-@COMPILER@-@RELEASE@}
release=@RELEASE@
command -v "${compiler%% *}" >/dev/null ||
	fail "${compiler%% *} is not on PATH; install it, or name another compiler: KADENCE_COMPILER=…"
if [ "$compiler" != @COMPILER@-@RELEASE@ ]; then
	case $compiler in
	*kadence-cc | *kadence-c++ | *kadence-fc)
		fail "KADENCE_COMPILER is '$compiler', which is Kadence's; name a compiler of GCC"
		;;
	esac
	# Clang answers -dumpversion, too.
	case $($compiler --version 2>&1) in
	*'Free Software Foundation'*) ;;
	*) fail "KADENCE_COMPILER is '$compiler', which is not GCC; the plugin works with GCC only" ;;
	esac
	release=$($compiler -dumpversion)
	release=${release%%.*}
fi
plugin=$KADENCE_PARTS/gccplugin/$release/kadence.so
[ -r "$plugin" ] ||
	fail "no plugin was built for $compiler, which is GCC $release; make it: make plugin GCC=$release"

# All that an object depends on beside its source and options, for a cache in front of this wrapper.
cache_key()
{
	{
		echo "$mode ${KADENCE_PROFILE:-} ${KADENCE_FLAGS:-} $compiler"
		# The compiler may be several words, so it is not quoted.
		# shellcheck disable=SC2086
		$compiler -dumpfullversion
		cat "$plugin" ${KADENCE_PLAN:+"$KADENCE_PLAN"}
	} | sha256sum | cut -c 1-64
}

# ccache sets this variable for the compiler, and first asks for the preprocessed source (-E).
if [ -n "${CCACHE_DISABLE:-}" ]; then
	for word in "$@"; do
		[ "$word" != -E ] || set -- "$@" -include "$KADENCE_PARTS/gccplugin/cache.h" \
			-DKADENCE_CACHE_KEY="kadence_$(cache_key)"
	done
fi

# They are words, so they are not quoted; -f above keeps them from being file names.
# shellcheck disable=SC2086
set -- "$@" ${KADENCE_FLAGS:-}

# The compiler may be several words, so it is not quoted.
# shellcheck disable=SC2086
case $mode in
plain)
	# A profile needs lines. -g changes no code, and the caller's own -g options come later.
	exec $compiler -fplugin="$plugin" -g "$@"
	;;
adapt)
	[ -n "${KADENCE_PLAN:-}" ] ||
		fail 'KADENCE_PLAN is not set; give it the path of a plan, or set KADENCE_MODE=plain'
	[ -r "$KADENCE_PARTS/kadapt/libkadapt.a" ] ||
		fail "$KADENCE_PARTS/kadapt/libkadapt.a is missing; make it: make build"
	# A compiler cache behind the wrapper must know that the plan is an input.
	CCACHE_EXTRAFILES=${CCACHE_EXTRAFILES:+$CCACHE_EXTRAFILES:}$KADENCE_PLAN
	export KADENCE_PARTS CCACHE_EXTRAFILES
	exec $compiler -specs="$KADENCE_PARTS/gccplugin/$release/link.specs" -fplugin="$plugin" \
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
	exec $compiler -specs="$KADENCE_PARTS/gccplugin/$release/profile.specs" -fplugin="$plugin" \
		-fplugin-arg-kadence-profile="${KADENCE_PROFILE:-fast}" -g -falign-loops=64 \
		"$@" -fno-lto
	;;
*)
	fail "KADENCE_MODE is '$mode'; it must be plain, adapt or profile"
	;;
esac
