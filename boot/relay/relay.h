/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the relay: see main.c. */
#ifndef KADENCE_BOOT_RELAY_H
#define KADENCE_BOOT_RELAY_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdnoreturn.h>
#include <sys/types.h>

#include "../channel.h"

/* Sent by the system when the parent has died. */
#define PARENT_DIED SIGRTMIN

struct options {
	const char *memory_directory; /* where the file behind the guest's memory is made */
	const char *at_start;	      /* commands for QEMU's monitor before the command starts */
	char **kernel;		      /* the words that start the kernel */
	size_t shared_bytes;	      /* of the memory that holds the channel */
	pid_t parent;
	int processors; /* of the guest */
	int report;	/* descriptor that the report is written to */
	int signals;	/* from the stand-in: a byte for each signal of the command; or -1 */
	bool closed[STANDARD_STREAMS];
	int64_t boot_timeout_ns;
	int64_t hang_timeout_ns;
	int64_t timeout_ns; /* 0: none */
	const char *file;   /* to be executed; by default the command's first word */
	char **command;
};

/* The kernel's ends of its connections with the relay. */
struct ends {
	int doorbell;
	int memory;
	int monitor;
	int log;
};

/* The guest's log. Of a very long log, only the beginning and the end are kept. */
struct log {
	char *bytes;
	size_t length;
	int descriptor;
};

struct kernel {
	pid_t keeper; /* its parent: see kernel.c */
	int news;     /* from the keeper */
	pid_t pid;
	int error;  /* errno of the failed execution, or 0 */
	int status; /* as from waitpid, once it has ended */
	bool ended;
};

/* One direction of one stream, carried by its own thread because a descriptor may block. */
struct carrier {
	pthread_t thread;
	bool running;
	struct ring *ring;
	char *base;
	int descriptor;
	int wake; /* eventfd: look at the ring again */
	int doorbell;
};

/* options.c */
struct options options_parse(int count, char **arguments);

/* channel.c: the shared memory, with the caller's request in it. */
struct channel *channel_create(const struct options *options, int *memory);

/* kernel.c */
void ends_close(const struct ends *ends);
bool kernel_start(struct kernel *kernel, const struct options *options, const struct ends *ends);
void kernel_reap(struct kernel *kernel);
void kernel_kill(struct kernel *kernel);

/* monitor.c */
void monitor_tell(int monitor, const char *commands);

/* log.c */
void log_read(struct log *log);

/* streams.c */
void carrier_start(struct carrier *carriers, struct channel *channel, int doorbell);
void carrier_start_input(struct carrier *carriers, const struct channel_request *request);
void carriers_wake(struct carrier *carriers);
void carriers_finish(struct carrier *carriers);
void doorbell_ring(int doorbell);

/* terminal.c: the outer terminal, if any of the standard streams is one. */
void terminal_describe(struct channel *channel);
void terminal_make_raw(const struct channel_request *request);
void terminal_restore(void);
int terminal_descriptor(const struct channel_request *request);
uint32_t terminal_window(const struct channel_request *request);

/* report.c */
struct ending {
	const char *outcome;
	int interrupted_by; /* signal that came before the command was started, or 0 */
	int64_t boot_ns;    /* until the command started, or 0 */
};

void report_write(int descriptor, const struct ending *ending, const struct kernel *kernel,
		  const struct channel *channel, const struct log *log);

int64_t now_ns(void);
noreturn void fail(const char *what);

#endif
