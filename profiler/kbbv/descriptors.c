/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program's descriptors: their kinds, the file positions of their transfers, and the peers of
 * sockets. A transfer is sequential if it begins where the descriptor's last transfer ended. The
 * first transfer is sequential. Descriptors that share an offset (by dup, or with another
 * process) are treated as independent.
 */

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vkiscnums.h"
#include "kbbv.h"

enum { MOST = 1 << 16, LARGEST_ADDRESS = 128 };

/* Declared as in Valgrind's pub_core_syscall.h; libcoregrind exports it. */
extern SysRes VG_(do_syscall)(UWord number, UWord, UWord, UWord, UWord, UWord, UWord, UWord, UWord);

struct state {
	enum descriptor kind;
	Bool moved;
	ULong position; /* of the next transfer that does not name a position */
	ULong end;	/* of the last transfer */
	Bool peer_known;
	UInt peer;
};

static struct state *states;
static UInt states_capacity;

/* The kernel uses the lower half of a system call's argument as the descriptor. */
static struct state *state_of(UWord argument)
{
	UInt descriptor = (UInt)argument, capacity;

	if (descriptor >= MOST)
		return NULL;
	if (descriptor >= states_capacity) {
		capacity = 2 * descriptor + 16;
		states = VG_(realloc)("kbbv.descriptors", states, capacity * sizeof(*states));
		VG_(memset)
		(states + states_capacity, 0, (capacity - states_capacity) * sizeof(*states));
		states_capacity = capacity;
	}
	return &states[descriptor];
}

static void forget(UWord argument)
{
	UInt descriptor = (UInt)argument;

	if (descriptor < states_capacity)
		states[descriptor] = (struct state){0};
}

static void forget_all(void)
{
	VG_(memset)(states, 0, states_capacity * sizeof(*states));
}

static enum descriptor ask_for_kind(Int descriptor)
{
	struct vg_stat status;

	if (descriptor < 0 || VG_(fstat)(descriptor, &status) != 0)
		return NO_DESCRIPTOR;
	switch (status.mode & VKI_S_IFMT) {
	case VKI_S_IFREG:
	case VKI_S_IFDIR:
		return FILE_DESCRIPTOR;
	case VKI_S_IFSOCK:
		return SOCKET;
	case VKI_S_IFIFO:
		return PIPE;
	case VKI_S_IFCHR:
	case VKI_S_IFBLK:
		return DEVICE;
	default:
		return OTHER_DESCRIPTOR;
	}
}

enum descriptor descriptors_kind(UWord descriptor)
{
	struct state *state = state_of(descriptor);

	if (!state)
		return ask_for_kind((Int)descriptor);
	if (state->kind == NO_DESCRIPTOR)
		state->kind = ask_for_kind((Int)descriptor);
	return state->kind;
}

static Bool names_place(UInt number)
{
	return number == __NR_pread64 || number == __NR_pwrite64 || number == __NR_preadv ||
	       number == __NR_pwritev;
}

static Bool goes_on(UInt number)
{
	return number == __NR_read || number == __NR_write || number == __NR_readv ||
	       number == __NR_writev;
}

enum access descriptors_moved(UInt number, const UWord *arguments, ULong bytes)
{
	Bool placed = names_place(number);
	struct state *state;
	Bool sequential;
	ULong begin;

	if (!placed && !goes_on(number))
		return NO_ACCESS;
	state = state_of(arguments[0]);
	if (!state)
		return NO_ACCESS;
	begin = placed ? arguments[3] : state->position;
	sequential = !state->moved || begin == state->end;
	state->moved = True;
	state->end = begin + bytes;
	if (!placed)
		state->position = state->end;
	return sequential ? SEQUENTIAL : RANDOM;
}

void descriptors_after(UInt number, const UWord *arguments, UWord result)
{
	struct state *state;

	switch (number) {
	case __NR_lseek:
		state = state_of(arguments[0]);
		if (state)
			state->position = result;
		break;
	case __NR_close:
	case __NR_connect: /* perhaps to a different peer */
		forget(arguments[0]);
		break;
	case __NR_dup2:
	case __NR_dup3:
		forget(arguments[1]);
		break;
	case __NR_close_range:
		forget_all();
		break;
	}
}

UInt descriptors_peer(UWord descriptor)
{
	UChar address[LARGEST_ADDRESS];
	UInt length = sizeof(address);
	struct state *state = state_of(descriptor);
	SysRes result;

	if (!state)
		return NO_PEER;
	if (state->peer_known)
		return state->peer;
	result = VG_(do_syscall)(__NR_getpeername, descriptor, (UWord)address, (UWord)&length, 0, 0,
				 0, 0, 0);
	if (sr_isError(result))
		return NO_PEER;
	state->peer_known = True;
	state->peer =
	    peers_of_address(address, length < sizeof(address) ? length : sizeof(address));
	return state->peer;
}
