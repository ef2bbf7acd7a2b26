/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory that the relay (outside) and the guest's init (inside) share: the request, the
 * streams, signals, and the result.
 *
 * It is a memfd. UML maps it as the "mmapper" I/O memory region, so the guest's init finds it
 * at /dev/mmapper; QEMU shows it as an ivshmem device, whose memory is a file in /sys. Serial
 * line 0 is the doorbell: one byte, in either direction, says "look again". A UML serial line
 * reads a byte per system call and drops output beyond 4 KiB, which is fine for a doorbell and
 * not for streams.
 *
 * Both sides are compiled by the same compiler, so the layout needs no description of its own.
 */
#ifndef KADENCE_BOOT_CHANNEL_H
#define KADENCE_BOOT_CHANNEL_H

#include <stdint.h>
#include <sys/resource.h>
#include <termios.h>

#include "ring.h"

#define CHANNEL_MAGIC 0x6b6164656e636531ULL /* "kadence1" */
#define CHANNEL_GROUPS 256
#define CHANNEL_SEED 64

enum channel_state {
	CHANNEL_BOOTING,
	CHANNEL_READY,	  /* request.hold is set: the command is prepared and waits for `go` */
	CHANNEL_STARTED,  /* the command runs */
	CHANNEL_FINISHED, /* the result and all of the command's output are there */
	CHANNEL_FAILED,	  /* the command could not be started: see failure */
};

/* The kinds of streams that a command has. */
enum stream_kind {
	STREAM_CLOSED,
	STREAM_PIPE,
	STREAM_TERMINAL,
};

enum stream {
	STREAM_INPUT,
	STREAM_OUTPUT,
	STREAM_ERROR,
	STREAM_PTY, /* the output of the guest's pseudo-terminal; its input is STREAM_INPUT */
	STREAMS,
};

#define STANDARD_STREAMS 3

/*
 * The strings are NUL-terminated, one after the other, at `strings`: the file to be executed (which
 * may differ from the first argument), the arguments, the environment.
 */
struct channel_request {
	uint64_t strings;
	uint32_t arguments;
	uint32_t variables;
	uint32_t uid;
	uint32_t gid;
	uint32_t groups;
	uint32_t group[CHANNEL_GROUPS];
	uint32_t umask;
	uint32_t hold;		  /* the command waits until the relay says go */
	uint64_t ignored_signals; /* bit n - 1 for signal n */
	struct rlimit limits[RLIM_NLIMITS];
	uint32_t streams[STANDARD_STREAMS];
	struct termios terminal;
	char directory[4096];
	char hostname[65];
	uint8_t seed[CHANNEL_SEED];
};

struct channel_result {
	int32_t wait_status;
	int64_t booted_ns; /* the guest's clock when the command started */
	int64_t wall_ns;
	struct rusage usage;
};

struct channel {
	uint64_t magic;
	uint64_t length; /* of all the shared memory, strings and rings included */
	_Atomic uint32_t state;
	_Atomic uint32_t go;
	char failure[256];
	_Atomic uint64_t signals; /* to be delivered to the command; bit n - 1 for signal n */
	_Atomic uint32_t window;  /* rows << 16 | columns of the outer terminal */
	_Atomic uint32_t ping;	  /* raised by the relay, copied to pong by init */
	_Atomic uint32_t pong;
	struct channel_request request;
	struct channel_result result;
	struct ring rings[STREAMS];
};

#endif
