// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures calls of the kernel in a guest whose clock counts instructions.
 *
 *	calls cost [UNIT]          for each call "NAME INSTRUCTIONS", in a phase that takes the unit
 *	calls phases [UNIT]        instructions of a KADAPT_ENTER that changes the phase
 *	calls install FILE.ko      microseconds of finit_module()
 *	calls remove UNIT          microseconds of the write that removes the unit
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kadapt.h"

#define PAGE_BYTES 4096
#define RECORD_BYTES 16

struct operation {
	const char *name;
	void (*run)(void);
	int count;
};

static int file, device;
static char *self;
static char *pages;

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void run_fork(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
}

static void run_execve(void)
{
	pid_t child = vfork();

	if (child == 0) {
		execl(self, self, (char *)NULL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
}

static void run_brk(void)
{
	syscall(SYS_brk, 0);
}

static void run_open(void)
{
	close(open("/tmp/record", O_RDONLY));
}

static void run_read(void)
{
	char record[RECORD_BYTES];

	if (lseek(file, 0, SEEK_SET) || read(file, record, sizeof(record)) != sizeof(record))
		fail("read");
}

static void run_write(void)
{
	static const char record[RECORD_BYTES];

	if (lseek(file, 0, SEEK_SET) || write(file, record, sizeof(record)) != sizeof(record))
		fail("write");
}

static void run_fault(void)
{
	*pages = 1;
	pages += PAGE_BYTES;
}

static void run_kill(void)
{
	syscall(SYS_kill, getpid(), 0);
}

static const struct operation operations[] = {
    {"fork", run_fork, 40},	{"brk", run_brk, 2000},	  {"execve", run_execve, 40},
    {"open", run_open, 500},	{"read", run_read, 2000}, {"write", run_write, 2000},
    {"fault", run_fault, 2000}, {"kill", run_kill, 2000},
};

/* The least of several rounds: a timer's interrupt falls into some of them. */
#define ROUNDS 9

static double cost(const struct operation *operation)
{
	double least = 0;

	for (int round = 0; round < ROUNDS; round++) {
		int64_t begin = now_ns();
		double each;

		for (int i = 0; i < operation->count; i++)
			operation->run();
		each = (double)(now_ns() - begin) / operation->count;
		if (!round || each < least)
			least = each;
	}
	return least;
}

static void take(const char *unit, unsigned int phase)
{
	struct kadapt_take taken = {.phase = phase};

	strncpy(taken.unit, unit, sizeof(taken.unit) - 1);
	if (ioctl(device, KADAPT_TAKE, &taken))
		fail(unit);
}

static void open_device(const char *unit)
{
	struct kadapt_policy policies[] = {{.phase = 0}, {.phase = 1}};

	device = open("/dev/kadapt", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 2; i++)
		if (ioctl(device, KADAPT_DEFINE, &policies[i]))
			fail("/dev/kadapt");
	if (unit)
		take(unit, 1);
}

static void enter(unsigned int phase)
{
	if (ioctl(device, KADAPT_ENTER, phase))
		fail("KADAPT_ENTER");
}

static void print_costs(const char *unit)
{
	if (unit) {
		open_device(unit);
		enter(1);
	}
	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		printf("%s %.2f\n", operations[i].name, cost(&operations[i]));
}

static void run_switch(void)
{
	enter(1);
	enter(0);
}

static void print_switch(const char *unit)
{
	const struct operation operation = {"switch", run_switch, 2000};

	open_device(unit);
	printf("switch %.2f\n", cost(&operation) / 2);
}

static void print_microseconds(int64_t begin_ns)
{
	printf("us %.1f\n", (double)(now_ns() - begin_ns) / 1000);
}

static void install(const char *name)
{
	int module = open(name, O_RDONLY);
	int64_t begin = now_ns();

	if (syscall(SYS_finit_module, module, "", 0))
		fail(name);
	print_microseconds(begin);
}

static void remove_unit(const char *name)
{
	char path[256];
	int control;
	int64_t begin = now_ns();

	snprintf(path, sizeof(path), "/sys/kernel/kadapt/units/%s/installed", name);
	control = open(path, O_WRONLY);
	if (write(control, "0", 1) != 1)
		fail(path);
	print_microseconds(begin);
}

static void prepare(char *own_path)
{
	self = own_path;
	file = open("/tmp/record", O_RDWR | O_CREAT, 0600);
	run_write();
	pages = mmap(NULL, (size_t)ROUNDS * 2000 * PAGE_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pages == MAP_FAILED)
		fail("mmap");
	madvise(pages, (size_t)ROUNDS * 2000 * PAGE_BYTES, MADV_NOHUGEPAGE);
}

int main(int count, char **words)
{
	const char *argument = count > 2 ? words[2] : NULL;

	if (count < 2)
		return 0; /* execve's cost */
	prepare(words[0]);
	if (!strcmp(words[1], "cost"))
		print_costs(argument);
	else if (!strcmp(words[1], "phases"))
		print_switch(argument);
	else if (!strcmp(words[1], "install") && argument)
		install(argument);
	else if (!strcmp(words[1], "remove") && argument)
		remove_unit(argument);
	else
		return 1;
	return 0;
}
