// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registers outlive signals and preemption: registers sse|avx|avx512 SIGNALS
 *
 * Four threads in two processes each fill all vector registers with numbers of their own. They
 * then only wait until SIGNALS timer signals have come. The handler finds the interrupted
 * thread's numbers in the signal's frame and changes the last register there. It fills the vector
 * registers with other numbers, is preempted, and finds these numbers again. In the end each thread
 * must still have its numbers, except in the last register. Exit status 0: it has.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REGISTERS = 32, BYTES = 64, THREADS = 2, PERIOD_NS = 2000000 };
enum { XMM = 160, MAGIC1 = 464, EXTENDED_SIZE = 468, XSTATE_SIZE = 480 };
enum { SPINS = 200000 };

static const uint32_t magic1 = 0x46505853, magic2 = 0x46505845;

struct registers {
	char vector[REGISTERS][BYTES];
	uint64_t mask[8];
} __attribute__((aligned(64)));

/* The registers of one instruction set, and how to fill them, wait, and store them. */
struct kind {
	const char *name;
	int registers;
	size_t bytes;
	size_t state_bytes; /* least size of a frame that holds them */
	bool masks;
	void (*hold)(const struct registers *, struct registers *, volatile long *,
		     volatile long *);
};

static const struct kind *kind;
static __thread volatile long left, holds; /* signals left; whether the registers are filled */
static __thread struct registers mine, found, handlers, handlers_found;

/* The assembler repeats an instruction for each number. */
#define FOR_8 ".irp i,0,1,2,3,4,5,6,7\n"
#define FOR_16 ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
#define FOR_32                                                                                     \
	".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,"  \
	"30,31\n"
#define END ".endr\n"
#define WAIT "movq $1, (%3)\n 1: pause\n cmpq $0, (%2)\n jg 1b\n"

#define HOLD(name, fill, look)                                                                     \
	static void name(const struct registers *set, struct registers *seen,                      \
			 volatile long *until, volatile long *holds)                               \
	{                                                                                          \
		__asm__ volatile(fill WAIT look                                                    \
				 :                                                                 \
				 : "r"(set), "r"(seen), "r"(until), "r"(holds)                     \
				 : "memory");                                                      \
	}

HOLD(hold_sse, FOR_16 "movdqu 64*\\i(%0), %%xmm\\i\n" END,
     FOR_16 "movdqu %%xmm\\i, 64*\\i(%1)\n" END)
HOLD(hold_avx, FOR_16 "vmovdqu 64*\\i(%0), %%ymm\\i\n" END,
     FOR_16 "vmovdqu %%ymm\\i, 64*\\i(%1)\n" END "vzeroupper\n")
HOLD(hold_avx512,
     FOR_32 "vmovdqu64 64*\\i(%0), %%zmm\\i\n" END FOR_8 "kmovq 2048+8*\\i(%0), %%k\\i\n" END,
     FOR_32 "vmovdqu64 %%zmm\\i, 64*\\i(%1)\n" END FOR_8 "kmovq %%k\\i, 2048+8*\\i(%1)\n" END
	    "vzeroupper\n")

static const struct kind kinds[] = {
    {"sse", 16, 16, 512, false, hold_sse},
    {"avx", 16, 32, 832, false, hold_avx},
    {"avx512", 32, 64, 2432, true, hold_avx512},
};

static void fill(struct registers *registers, uint64_t seed)
{
	uint64_t *words = (uint64_t *)registers;

	for (size_t i = 0; i < sizeof(*registers) / sizeof(*words); i++)
		words[i] = (seed + i) * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

static void fail(const char *what, int number)
{
	fprintf(stderr, "%s %d is not what it was\n", what, number);
	_exit(1);
}

static void compare(const struct registers *set, const struct registers *seen, int vectors)
{
	for (int i = 0; i < vectors; i++)
		if (memcmp(set->vector[i], seen->vector[i], kind->bytes))
			fail("vector register", i);
	for (int i = 0; kind->masks && i < 8; i++)
		if (set->mask[i] != seen->mask[i])
			fail("mask register", i);
}

/* The frame has its length, its second magic number at the end, and the thread's xmm. */
static void check_frame(char *state)
{
	uint32_t size, extended;

	for (int i = 0; i < 15; i++)
		if (memcmp(state + XMM + 16 * i, mine.vector[i], 16))
			fail("in the signal's frame, register", i);
	if (memcmp(state + MAGIC1, &magic1, 4)) {
		if (kind->state_bytes > 512)
			fail("in the signal's frame, magic number", 1);
		return;
	}
	memcpy(&size, state + XSTATE_SIZE, 4);
	memcpy(&extended, state + EXTENDED_SIZE, 4);
	if (size < kind->state_bytes || extended != size + 4)
		fail("the signal's frame: size", (int)size);
	if (memcmp(state + size, &magic2, 4))
		fail("in the signal's frame, magic number", 2);
}

static void handle(int number, siginfo_t *information, void *context)
{
	char *state = (char *)((ucontext_t *)context)->uc_mcontext.fpregs;
	volatile long spins = SPINS;
	uint64_t word = (uint64_t)left;

	(void)number;
	(void)information;
	if (left <= 0 || !holds)
		return;
	check_frame(state);
	memcpy(state + XMM + 16 * 15, &word, sizeof(word));
	fill(&handlers, word * 7);
	while (spins > 0)
		spins = spins - 1;
	spins = 0;
	kind->hold(&handlers, &handlers_found, &spins, &holds);
	compare(&handlers, &handlers_found, kind->registers);
	left = left - 1;
}

static void start_timer(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
	struct itimerspec period = {{0, PERIOD_NS}, {0, PERIOD_NS}};
	timer_t timer;

	event._sigev_un._tid = (int)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &period, NULL)) {
		perror("timer");
		_exit(2);
	}
}

static void *work(void *argument)
{
	uint64_t last = 1;

	left = *(long *)argument;
	fill(&mine, (uint64_t)syscall(SYS_gettid));
	start_timer();
	kind->hold(&mine, &found, &left, &holds);
	memcpy(mine.vector[15], &last, sizeof(last));
	compare(&mine, &found, kind->registers);
	return NULL;
}

static void run_threads(long signals)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, &signals))
			_exit(2);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(int count, char **arguments)
{
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
	int status;

	for (size_t i = 0; count == 3 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(arguments[1], kinds[i].name))
			kind = &kinds[i];
	if (!kind)
		return 2;
	sigaction(SIGUSR1, &action, NULL);
	fork();
	run_threads(atol(arguments[2]));
	while (wait(&status) > 0)
		if (status)
			return 1;
	puts("kept");
	return 0;
}
