/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lives WAY [ROUNDS]: a program without a library that can end in every possible way. WAY says
 * what its last call or instruction is. It executes the same instructions on any machine.
 */

#include <asm/unistd.h>

enum { SIGNAL_FAULT = 11, SIGNAL_TERMINATE = 15, CHILD_SIGNAL = 17, VM_AND_VFORK = 0x4100 };

static const long hole = 0x10000000, page = 4096;

static long call6(long number, long one, long two, long three, long four, long five, long six)
{
	register long fourth __asm__("r10") = four;
	register long fifth __asm__("r8") = five;
	register long sixth __asm__("r9") = six;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(one), "S"(two), "d"(three), "r"(fourth), "r"(fifth),
			   "r"(sixth)
			 : "rcx", "r11", "memory");
	return result;
}

static long call(long number, long one, long two, long three, long four)
{
	return call6(number, one, two, three, four, 0, 0);
}

__attribute__((noinline)) static void work(long rounds)
{
	while (rounds-- > 0)
		__asm__ volatile("" ::: "memory");
}

static int same(const char *one, const char *other)
{
	while (*one && *one == *other)
		one++, other++;
	return *one == *other;
}

static long number_of(const char *text)
{
	long number = 0;

	while (*text >= '0' && *text <= '9')
		number = 10 * number + *text++ - '0';
	return number;
}

static void become(const char *path, const char *way, const char *rounds)
{
	const char *arguments[] = {path, way, rounds, 0};

	call(__NR_execve, (long)path, (long)arguments, 0, 0);
}

static void wait_for_child(void)
{
	call(__NR_wait4, -1, 0, 0, 0);
}

/* A child that works twice as long, and a grandchild that works three times as long. */
static void fork_twice(long rounds)
{
	if (call(__NR_fork, 0, 0, 0, 0) == 0) {
		if (call(__NR_fork, 0, 0, 0, 0) == 0) {
			work(3 * rounds);
			call(__NR_exit_group, 0, 0, 0, 0);
		}
		work(2 * rounds);
		wait_for_child();
		call(__NR_exit_group, 0, 0, 0, 0);
	}
	wait_for_child();
}

static void spawn(long number, long flags, const char *path, const char *rounds)
{
	if (call(number, flags, 0, 0, 0) == 0) {
		become(path, "plain", rounds);
		call(__NR_exit_group, 127, 0, 0, 0);
	}
	wait_for_child();
}

/* Maps the page that was missing, so that the faulting instruction succeeds when it runs again. */
static void mend(int number)
{
	const long readable_writable = 3, private_anonymous_fixed = 0x32;

	(void)number;
	call6(__NR_mmap, hole, page, readable_writable, private_anonymous_fixed, -1, 0);
}

void resume(void);
__asm__("resume:\n\tmov $15, %eax\n\tsyscall\n");

static void fault_and_go_on(void)
{
	const long with_restorer = 0x04000000, mask_bytes = 8;
	struct {
		void (*handler)(int);
		long flags;
		void (*restorer)(void);
		long mask;
	} action = {mend, with_restorer, resume, 0};

	call(__NR_rt_sigaction, SIGNAL_FAULT, (long)&action, 0, mask_bytes);
	*(volatile int *)hole = 1;
}

static int live(const char *path, const char *way, const char *text)
{
	long rounds = number_of(text);

	work(rounds);
	if (same(way, "thread's exit"))
		call(__NR_exit, 3, 0, 0, 0);
	if (same(way, "exec"))
		become(path, "plain", text);
	if (same(way, "failing exec"))
		become("/nowhere/program", "plain", text);
	if (same(way, "fork"))
		fork_twice(rounds);
	if (same(way, "spawn"))
		spawn(__NR_fork, 0, path, text);
	if (same(way, "vfork"))
		spawn(__NR_clone, VM_AND_VFORK | CHILD_SIGNAL, path, text);
	if (same(way, "terminated"))
		call(__NR_kill, call(__NR_getpid, 0, 0, 0, 0), SIGNAL_TERMINATE, 0, 0);
	if (same(way, "handled fault"))
		fault_and_go_on();
	if (same(way, "trap"))
		__asm__ volatile("ud2");
	if (same(way, "fault"))
		*(volatile int *)0 = 1;
	work(rounds);
	return 3;
}

__attribute__((used)) static void begin(const long *stack)
{
	const char *const *arguments = (const char *const *)(stack + 1);

	call(__NR_exit_group, live(arguments[0], arguments[1], arguments[2]), 0, 0, 0);
}

__asm__(".globl _start\n_start:\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall begin\n");
