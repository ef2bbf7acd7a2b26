// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ranks/shared.h"

#define NAME_ROOM 64

struct shared {
	_Atomic uint32_t arrived; /* ranks that ever came */
	_Atomic uint32_t present; /* and have not ended */
	_Atomic uint8_t is_led[KADAPT_SHARED_PHASES];
	_Atomic uint64_t schedule[KADAPT_SHARED_PHASES];
};

static struct shared *shared; /* stays mapped: a thread may enter a phase while the process ends */
static char is_counted;	      /* among those present */
static uint32_t expected;     /* ranks of this node */
static char name[NAME_ROOM];

/*
 * Memory is taken now. Otherwise a full /dev/shm would end the process when it touches
 * the memory.
 */
static int is_usable(int file)
{
	struct stat state;

	return fstat(file, &state) == 0 && S_ISREG(state.st_mode) && state.st_uid == geteuid() &&
	       syscall(SYS_fallocate, file, 0, (off_t)0, (off_t)sizeof(struct shared)) == 0;
}

static struct shared *mapped(int file)
{
	void *memory;

	if (!is_usable(file))
		return NULL;
	memory = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

/* Another user may have made a file of this name: then there is no sharing. */
static struct shared *open_shared(void)
{
	const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
	int file = (int)syscall(SYS_openat, AT_FDCWD, name, flags, S_IRUSR | S_IWUSR);
	struct shared *memory;

	if (file < 0)
		return NULL;
	memory = mapped(file);
	syscall(SYS_close, file);
	return memory;
}

static void remove_file(void)
{
	syscall(SYS_unlinkat, AT_FDCWD, name, 0);
}

int kadapt_shared_begin(const struct kadapt_job *job, uint64_t plan)
{
	if (!job->here || job->local_ranks < 2)
		return 0;
	snprintf(name, sizeof(name), "/dev/shm/kadapt-%016" PRIx64 "-%016" PRIx64, job->here, plan);
	shared = open_shared();
	if (!shared)
		return 0;
	is_counted = 1;
	atomic_fetch_add(&shared->present, 1);
	expected = job->local_ranks;
	if (atomic_fetch_add(&shared->arrived, 1) + 1 == expected)
		remove_file();
	return 1;
}

void kadapt_shared_leave(void)
{
	is_counted = 0;
}

/* When all had arrived, the file was removed. The name may be another run's by now. */
void kadapt_shared_end(void)
{
	if (is_counted && atomic_fetch_sub(&shared->present, 1) == 1 && shared->arrived < expected)
		remove_file();
}

int kadapt_shared_lead(uint32_t phase)
{
	return !atomic_exchange(&shared->is_led[phase], 1);
}

int kadapt_shared_is_led(uint32_t phase)
{
	return atomic_load_explicit(&shared->is_led[phase], memory_order_relaxed);
}

void kadapt_shared_publish(uint32_t phase, const struct kadapt_schedule *schedule)
{
	uint64_t word;

	memcpy(&word, schedule, sizeof(word));
	atomic_store(&shared->schedule[phase], word);
}

struct kadapt_schedule kadapt_shared_read(uint32_t phase)
{
	uint64_t word = atomic_load(&shared->schedule[phase]);
	struct kadapt_schedule schedule;

	memcpy(&schedule, &word, sizeof(schedule));
	return schedule;
}
