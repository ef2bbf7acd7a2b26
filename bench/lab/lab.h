/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lab: measures the cost of single kernel operations, by the guest's own clock.
 *
 *	lab [-m BYTES] [-s DIRECTORY] [-r ROUNDS] [OPERATION...]
 *	lab -l		(lists the operations)
 *
 * Every operation is done in batches. A round is one batch. The first round of each operation is
 * dropped, and the cost of reading the clock is subtracted. Each operation gives one JSON line:
 *
 *	{"operation": "getppid", "unit": "ns", "median": 325.28, "low": 325.00, "high": 327.12,
 *	 "rounds": 11, "batch": 10000, "crossings": 1}
 *	{"operation": "phase", "unit": "ns", "error": "ENOENT", "errno": 2}
 *
 * Files are written and read on tmpfs, or in DIRECTORY. The first line of the output names the file
 * system. The second form says that this kernel cannot do the operation. If the clock counts
 * instructions, as in the lab, a nanosecond is an instruction. The operation `million`, a million
 * instructions, shows whether the clock does. `crossings` is the number of calls into the kernel
 * that one operation makes; 0 if it makes none, or shares a call with other operations.
 *
 * Limits: the loop around an operation (3 to 10 instructions) is included, and so is any tick of
 * the timer during a batch.
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
	long argument; /* size of a record, or a value that the functions interpret */
	long batch;    /* operations in a round */
	int crossings; /* calls into the kernel for one operation; 0: none, or one for several */
	int rounds;    /* 0: setting.rounds */
	/* All return 0 or a negative errno. */
	int (*prepare)(long argument);		  /* once, before the first round */
	int (*rewind)(long argument);		  /* before every round, not timed */
	int (*run)(long argument, long count);	  /* the round */
	int (*verify)(long argument, long count); /* after every round, not timed */
	int (*sample)(long argument, double *to); /* instead of run: returns the figure itself */
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

/* The options of the command line. */
struct setting {
	const char *sink;	   /* folder for files; NULL: use files on tmpfs */
	unsigned long guest_bytes; /* size of the guest's memory; 0: unknown */
	int rounds;
};

extern struct setting setting;

/* clock.c */
double now(void);
double clock_cost(void);
double median(double *values, int count); /* sorts the values */
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
