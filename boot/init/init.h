/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the guest's init. */
#ifndef KADENCE_BOOT_INIT_H
#define KADENCE_BOOT_INIT_H

#include <stdbool.h>
#include <stdnoreturn.h>
#include <sys/ioctl.h>
#include <sys/types.h>

#include "../channel.h"

/* The running command and init's ends of its streams; -1 if there is none. */
struct command {
	pid_t pid;
	int input;
	int outputs[STREAMS]; /* by stream; never one for STREAM_INPUT */
	int terminal;	      /* master side of its pseudo-terminal; owns the descriptor */
};

/* The state of init. */
struct guest {
	struct channel *channel;
	int doorbell; /* see channel.h */
	int children; /* signalfd of SIGCHLD */
	struct command command;
	uint32_t window; /* the current size of the command's terminal; see channel.h */
};

/* main.c */
int64_t now_ns(void);
noreturn void give_up(const char *what);

/* root.c: moves from the initial RAM file system, if init starts there, to the host's files. */
void root_begin(void); /* from here on there is a log */
void root_enter(void);
bool root_in_machine(void); /* true in a whole machine, false under User-Mode Linux */

/* shared.c: maps the memory that is shared with the relay. */
struct channel *shared_map(void);

/* system.c: sets up what a program expects on any Linux system. */
void system_mount(void);
void system_prepare(const struct channel_request *request);
void system_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
noreturn void system_power_off(void);

/*
 * counters.c: GCC's counters of a kernel that counts its code, from the command's start to its end.
 * Both do nothing unless KADENCE_COUNTERS names a file for them.
 */
void counters_clear(void);
void counters_save(void);

/* processors.c: brings those online that the kernel did not start on; see ../x86_64.py. */
void processors_raise(void);

/* command.c: starts the command as the caller would have; on failure writes why to `failure`. */
bool command_start(struct command *command, struct channel *channel);

/* streams.c */
struct winsize window_size(const struct channel *channel);
void streams_turn(struct guest *guest, int timeout_ms);
bool streams_open(const struct command *command);
void ring_doorbell(const struct guest *guest);

#endif
