// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random calls: valid calls with one field changed, valid calls in a random order, and noise.
 * Between the calls, the rings' headers are overwritten. The only result may be an errno, and the
 * kernel must not complain.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "device.h"
#include "faults.h"
#include "records.h"
#include "ring.h"
#include "targets.h"

#define FILE_BYTES (1 << 20)
#define CALLS_PER_PROCESS 5000
#define CALLS_PER_EMPTYING 256
#define RINGS 4
#define ARGUMENT_BYTES 256
/* Bits of a request's size. If one changes, the kernel would write behind the argument. */
#define LARGER_SIZES (_IOC_SIZEMASK & ~(ARGUMENT_BYTES - 1))
/* The size of the longest structure, and one byte more. */
#define WORDS (sizeof(struct kadapt_batch) / sizeof(uint64_t) + 1)

static const unsigned long requests[] = {
    KADAPT_QUERY, KADAPT_DEFINE, KADAPT_ENTER, KADAPT_LEAVE,  KADAPT_COUNTERS,
    KADAPT_RING,  KADAPT_BIND,	 KADAPT_DRAIN, KADAPT_UNBIND, KADAPT_BATCH,
};

#define REQUESTS (sizeof(requests) / sizeof(*requests))

struct fuzzer {
	int device;
	uint64_t dice;
	struct targets targets;
	struct test_ring rings[RINGS];
	int ring_count;
	uint64_t succeeded[REQUESTS];
	/* Each of them begins with a request's structure. */
	_Alignas(8) unsigned char argument[ARGUMENT_BYTES];
};

static bool one_in(struct fuzzer *fuzzer, uint64_t chances)
{
	return dice_below(&fuzzer->dice, chances) == 0;
}

/* A small number, a number at a power of two, or any number. */
static uint64_t number(struct fuzzer *fuzzer)
{
	switch (dice_below(&fuzzer->dice, 4)) {
	case 0:
		return dice_below(&fuzzer->dice, 8);
	case 1:
		return (1ULL << dice_below(&fuzzer->dice, 64)) - dice_below(&fuzzer->dice, 2);
	case 2:
		return dice_below(&fuzzer->dice, KADAPT_RING_MAX);
	default:
		return dice(&fuzzer->dice);
	}
}

static int32_t descriptor(struct fuzzer *fuzzer)
{
	if (one_in(fuzzer, 16))
		return one_in(fuzzer, 2) ? -1 : fuzzer->device;
	return fuzzer->targets.descriptors[dice_below(&fuzzer->dice, TARGETS)];
}

/* Usually one of a few phases, which are defined; sometimes the first invalid one. */
static uint32_t phase(struct fuzzer *fuzzer)
{
	return (uint32_t)dice_below(&fuzzer->dice, one_in(fuzzer, 8) ? 260 : 4);
}

static void fill_policy(struct fuzzer *fuzzer)
{
	struct kadapt_policy *policy = (void *)fuzzer->argument;

	policy->phase = phase(fuzzer);
	policy->quantum_ns = one_in(fuzzer, 2) ? 0 : number(fuzzer);
	policy->file_delay_ns = dice_below(&fuzzer->dice, 2 * KADAPT_DELAY_MAX_NS);
}

static void fill_counters(struct fuzzer *fuzzer)
{
	struct kadapt_counters *counters = (void *)fuzzer->argument;

	counters->phase = phase(fuzzer);
	counters->flags = (uint32_t)dice_below(&fuzzer->dice, KADAPT_COUNTERS__ALL + 1);
}

static void fill_ring(struct fuzzer *fuzzer)
{
	struct kadapt_new_ring *ring = (void *)fuzzer->argument;

	ring->bytes = 1U << dice_below(&fuzzer->dice, 22);
}

static void fill_binding(struct fuzzer *fuzzer)
{
	struct kadapt_binding *binding = (void *)fuzzer->argument;

	binding->ring = (uint32_t)dice_below(&fuzzer->dice, RINGS + 1);
	binding->descriptor = descriptor(fuzzer);
	binding->flags = one_in(fuzzer, 16);
	binding->mark_bytes = (uint32_t)dice_below(&fuzzer->dice, 8192);
	binding->delay_ns = dice_below(&fuzzer->dice, 10 * NS_PER_MS);
}

/* In valid memory, and only some pages: a long loop of writes takes too much time. */
static void fill_batch(struct fuzzer *fuzzer)
{
	struct kadapt_batch *batch = (void *)fuzzer->argument;
	bool is_ours = !one_in(fuzzer, 4);

	batch->descriptor = descriptor(fuzzer);
	batch->flags = (uint32_t)dice_below(&fuzzer->dice, 3);
	batch->base = is_ours ? (uintptr_t)fuzzer->argument : dice(&fuzzer->dice) | 1ULL << 63;
	batch->size = is_ours ? dice_below(&fuzzer->dice, ARGUMENT_BYTES) : number(fuzzer);
	batch->stride = is_ours ? 0 : number(fuzzer);
	batch->count = is_ours ? dice_below(&fuzzer->dice, 64) : number(fuzzer);
}

static uint64_t fill(struct fuzzer *fuzzer, unsigned long request)
{
	memset(fuzzer->argument, 0, sizeof(fuzzer->argument));
	switch (request) {
	case KADAPT_DEFINE:
		fill_policy(fuzzer);
		break;
	case KADAPT_COUNTERS:
		fill_counters(fuzzer);
		break;
	case KADAPT_RING:
		fill_ring(fuzzer);
		break;
	case KADAPT_BIND:
		fill_binding(fuzzer);
		break;
	case KADAPT_BATCH:
		fill_batch(fuzzer);
		break;
	case KADAPT_ENTER:
		return phase(fuzzer);
	case KADAPT_DRAIN:
	case KADAPT_UNBIND:
		return dice_below(&fuzzer->dice, RINGS + 1) |
		       (one_in(fuzzer, 4) ? KADAPT_DRAIN_ALL : 0);
	case KADAPT_LEAVE:
		return 0;
	}
	return (uintptr_t)fuzzer->argument;
}

static void spoil(struct fuzzer *fuzzer, unsigned long *request, uint64_t *argument)
{
	uint64_t word = number(fuzzer);

	switch (dice_below(&fuzzer->dice, 6)) {
	case 0:
		memcpy(fuzzer->argument + dice_below(&fuzzer->dice, WORDS) * sizeof(word), &word,
		       sizeof(word));
		break;
	case 1:
		*argument = number(fuzzer);
		break;
	case 2: /* another size of the structure */
		*request ^= dice_below(&fuzzer->dice, ARGUMENT_BYTES) << _IOC_SIZESHIFT;
		break;
	case 3:
		*request = dice(&fuzzer->dice) & ~((unsigned long)LARGER_SIZES << _IOC_SIZESHIFT);
		break;
	}
}

/* A batch that the change made endless would never return. */
static bool is_endless(const struct fuzzer *fuzzer, unsigned long request)
{
	const struct kadapt_batch *batch = (const void *)fuzzer->argument;

	return _IOC_NR(request) == _IOC_NR(KADAPT_BATCH) && batch->count > (1 << 10) &&
	       batch->base < 1ULL << 63;
}

static void scribble(struct fuzzer *fuzzer)
{
	volatile struct kadapt_ring_header *header;

	if (!fuzzer->ring_count || !one_in(fuzzer, 4))
		return;
	header = fuzzer->rings[dice_below(&fuzzer->dice, (uint64_t)fuzzer->ring_count)].header;
	if (one_in(fuzzer, 2))
		__atomic_store_n(&header->tail, header->head + dice_below(&fuzzer->dice, 8192),
				 __ATOMIC_SEQ_CST);
	else
		((volatile uint64_t *)header)[dice_below(&fuzzer->dice, 16)] = number(fuzzer);
}

static void call(struct fuzzer *fuzzer)
{
	uint64_t kind = dice_below(&fuzzer->dice, REQUESTS);
	unsigned long request = requests[kind];
	uint64_t argument = fill(fuzzer, request);

	if (one_in(fuzzer, 2))
		spoil(fuzzer, &request, &argument);
	scribble(fuzzer);
	if (!is_endless(fuzzer, request) && ioctl(fuzzer->device, request, argument) >= 0)
		fuzzer->succeeded[kind]++;
}

static bool begin(struct fuzzer *fuzzer)
{
	fuzzer->device = open_device();
	if (fuzzer->device < 0 || targets_open(&fuzzer->targets))
		return false;
	while (fuzzer->ring_count < RINGS &&
	       ring_make(&fuzzer->rings[fuzzer->ring_count], fuzzer->device, KADAPT_RING_MIN) == 0)
		fuzzer->ring_count++;
	return fuzzer->ring_count > 0;
}

/* Descriptors 0 to 2 may be chosen, too. Their output must not appear in the report. */
static bool silence_standard_files(void)
{
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

	return dup2(nowhere, 0) == 0 && dup2(nowhere, 1) == 1 && dup2(nowhere, 2) == 2;
}

static enum outcome throw_calls(uint64_t count, uint64_t seed, uint64_t succeeded[REQUESTS])
{
	struct fuzzer fuzzer = {.dice = seed};

	CHECK(begin(&fuzzer) && silence_standard_files());
	for (uint64_t i = 0; i < count; i++) {
		if (i % CALLS_PER_EMPTYING == 0)
			targets_empty(&fuzzer.targets);
		call(&fuzzer);
	}
	for (size_t kind = 0; kind < REQUESTS; kind++)
		succeeded[kind] += fuzzer.succeeded[kind];
	return PASSED;
}

struct share {
	uint64_t count, seed;
	uint64_t *succeeded;
};

static int throw_share(void *argument)
{
	struct share *share = argument;

	return (int)throw_calls(share->count, share->seed, share->succeeded);
}

static enum outcome calls(void)
{
	/* The first one may be at a power of two, as random addresses are. */
	void *first = shared_memory(1);
	uint64_t *succeeded = shared_memory(REQUESTS * sizeof(*succeeded));
	struct rlimit file_bytes = {.rlim_cur = FILE_BYTES, .rlim_max = FILE_BYTES};

	alarm(0);
	CHECK(first && succeeded);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &file_bytes);
	for (uint64_t done = 0; done < setting.calls; done += CALLS_PER_PROCESS) {
		uint64_t left = setting.calls - done;
		struct share share = {
		    .count = left < CALLS_PER_PROCESS ? left : CALLS_PER_PROCESS,
		    .seed = setting.seed + done,
		    .succeeded = succeeded,
		};

		CHECK(in_child(throw_share, &share) == PASSED);
	}
	for (size_t kind = 0; kind < REQUESTS; kind++)
		note("call %lu: %lu succeeded", (unsigned long)_IOC_NR(requests[kind]),
		     (unsigned long)succeeded[kind]);
	/* A request that the device does not know at all would test nothing. */
	for (size_t kind = 0; kind < REQUESTS; kind++)
		CHECK(succeeded[kind]);
	return PASSED;
}

const struct test_case fuzz_cases[] = {
    {"fuzz", "calls thrown with dice", calls},
    {0},
};
