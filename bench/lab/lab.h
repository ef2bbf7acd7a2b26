/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lab: what single operations of a kernel cost, by the guest's own clock.
 *
 *	lab [-m BYTES] [-s DIRECTORY] [-r ROUNDS] [OPERATION...]
 *	lab -l		(lists the operations)
 *
 * Every operation is done in batches; a round is one batch, the first round of each is dropped, and
 * the reading of the clock is taken off. One JSON line an operation:
 *
 *	{"operation": "getppid", "unit": "ns", "median": 325.28, "low": 325.00, "high": 327.12,
 *	 "rounds": 11, "batch": 10000, "crossings": 1}
 *	{"operation": "phase", "unit": "ns", "error": "ENOENT", "errno": 2}
 *
 * Files are written and read on tmpfs, or in DIRECTORY; the first line of all names the file
 *system. The second form says that this kernel cannot do it. A nanosecond is an instruction where
 *the clock counts instructions, as in the lab; the operation `million`, which is a million of them,
 * shows whether it does. `crossings` are the calls into the kernel that one operation takes, 0
 * where it takes none or shares one with others.
 *
 * What it gets wrong: the loop around an operation (3 to 10 instructions) is counted in; a batch
 * that crosses a tick of the timer pays for it, as programs do.
 */
#ifndef LAB_H
#define LAB_H

#include <stdint.h>

#define MOST_ROUNDS 101
#define RECORDS_PER_CALL 64
#define LARGEST_RECORD 1024
#define RECORDS_PER_ROUND 4096

struct operation {
	const char *name;
	const char *unit;
	long argument; /* size of a record, or what the functions make of it */
	long batch;    /* how many are done in a round */
	int crossings; /* calls into the kernel for one; 0: none, or one for several */
	int rounds;    /* 0: as many as asked for */
	/* All return 0 or a negative errno. */
	int (*prepare)(long argument);		  /* once, before the first round */
	int (*rewind)(long argument);		  /* before every round, not counted */
	int (*run)(long argument, long count);	  /* the round */
	int (*verify)(long argument, long count); /* after every round, not counted */
	int (*sample)(long argument, double *to); /* instead of run: gives the figure itself */
	void (*finish)(void);			  /* once, after the last round or a failure */
};

extern const struct operation call_operations[];
extern const struct operation file_operations[];
extern const struct operation ring_operations[];
extern const struct operation socket_operations[];
extern const struct operation method_operations[];
extern const struct operation latency_operations[];
extern const struct operation process_operations[];
extern const struct operation memory_operations[];
extern const struct operation page_operations[];
extern const struct operation timer_operations[];

/* What the command line says. */
struct setting {
	const char *sink;	   /* folder for files; NULL: none, a file of tmpfs */
	unsigned long guest_bytes; /* size of the guest's memory; 0: unknown */
	int rounds;
};

extern struct setting setting;

/* clock.c */
double now(void);
double clock_cost(void);
double median(double *values, int count); /* leaves them in order */
void compute(double nanoseconds);
void compute_exactly(long instructions);

/* measure.c */
void measure(const struct operation *operation);

/* sink.c */
int sink_open(void);
int sink_rewind(void);
void sink_close(void);
const char *sink_file_system(void);

#endif
