#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Puts Kadence's plugin into a build that names its own compiler; see kadence-cc for the settings.
#
#   kadence-launch COMPILER ARGUMENT…    as CMake's compiler launcher
#   PATH=…/as-gcc:$PATH make             as gcc, cc, g++ and so on: the next one on PATH is called

set -euf

self=$(readlink -f -- "$0")
name=${0##*/}
here=${0%/*}

# Without this folder, because a cache looks for the compiler on PATH, too.
without_this_folder()
{
	IFS=:
	rest=
	for folder in $PATH; do
		[ "$(readlink -f -- "$folder/$name")" = "$self" ] || rest=$rest:$folder
	done
	printf '%s\n' "${rest#:}"
}

if [ "$name" = kadence-launch ]; then
	[ $# -gt 0 ] || {
		echo 'usage: kadence-launch COMPILER ARGUMENT...' >&2
		exit 1
	}
	KADENCE_CC=$1
	shift
	# A cache is a launcher, too.
	case ${KADENCE_CC##*/} in
	ccache | sccache | distcc)
		KADENCE_CC="$KADENCE_CC $1"
		shift
		;;
	esac
else
	PATH=$(without_this_folder)
	KADENCE_CC=$(command -v "$name") || {
		printf 'kadence-launch: there is no %s on PATH behind %s; install it\n' "$name" "$here" >&2
		exit 1
	}
fi
export KADENCE_CC
exec "${self%/*}/kadence-cc" "$@"
