// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The filter that selects the system calls of which the kernel notifies the watcher. It selects the
 * requested calls, and calls that name a file, a socket family or a file system. Of a few other
 * calls it selects only the forms that need a symbol. All other calls cost only the filter's run.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/memfd.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "watch.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

enum { FILTER_SIZE = 2 * CALLS + 64 };

static const int always[] = {
    SYS_socket, SYS_socketpair, SYS_open,   SYS_openat, SYS_openat2,
    SYS_creat,	SYS_mount,	SYS_fsopen, SYS_clone3, SYS_setns,
};

/* Calls that notify only if argument `word` has a bit of `value`, or (BPF_JEQ) equals it. */
static const struct {
	int call, word;
	uint16_t test;
	uint32_t value;
} conditional[] = {
    {SYS_clone, 0, BPF_JSET, NAMESPACES},    {SYS_unshare, 0, BPF_JSET, NAMESPACES | CLONE_NEWTIME},
    {SYS_mmap, 3, BPF_JSET, MAP_HUGETLB},    {SYS_memfd_create, 1, BPF_JSET, MFD_HUGETLB},
    {SYS_prctl, 0, BPF_JEQ, PR_SET_SECCOMP},
};

struct program {
	struct sock_filter code[FILTER_SIZE];
	unsigned short length;
};

static void add(struct program *program, uint16_t code, uint32_t value, uint8_t yes, uint8_t no)
{
	program->code[program->length++] = (struct sock_filter){code, yes, no, value};
}

static void add_load(struct program *program, size_t offset)
{
	add(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void add_return(struct program *program, uint32_t action)
{
	add(program, BPF_RET | BPF_K, action, 0, 0);
}

static void add_call(struct program *program, int call)
{
	add(program, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1);
	add_return(program, SECCOMP_RET_USER_NOTIF);
}

static void add_conditional(struct program *program, size_t index)
{
	add(program, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)conditional[index].call, 0, 4);
	add_load(program, offsetof(struct seccomp_data, args[conditional[index].word]));
	add(program, (uint16_t)(BPF_JMP | conditional[index].test | BPF_K),
	    conditional[index].value, 0, 1);
	add_return(program, SECCOMP_RET_USER_NOTIF);
	add_return(program, SECCOMP_RET_ALLOW);
}

static bool is_conditional(int call)
{
	for (size_t i = 0; i < sizeof(conditional) / sizeof(conditional[0]); i++)
		if (conditional[i].call == call)
			return true;
	return false;
}

/* The filter allows all calls of another architecture, because their numbers differ. */
static void write_program(struct program *program, const struct findings *findings)
{
	add_load(program, offsetof(struct seccomp_data, arch));
	add(program, BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
	add_return(program, SECCOMP_RET_ALLOW);
	add_load(program, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		add_call(program, always[i]);
	for (int call = 0; call < CALLS; call++)
		if (findings->wanted[call] && !is_conditional(call))
			add_call(program, call);
	for (size_t i = 0; i < sizeof(conditional) / sizeof(conditional[0]); i++)
		add_conditional(program, i);
	add_return(program, SECCOMP_RET_ALLOW);
}

static int set_filter(struct program *program, unsigned long flags)
{
	struct sock_fprog filter = {program->length, program->code};

	flags |= SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
}

int install_filter(const struct findings *findings)
{
	static struct program program;
	/* Keeps a timer's signals from restarting a call again and again; since Linux 5.19. */
	unsigned long flags = SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	int listener;

	write_program(&program, findings);
	listener = set_filter(&program, flags);
	if (listener < 0 && errno == EINVAL) {
		flags = 0;
		listener = set_filter(&program, flags);
	}
	/* An unprivileged process may set a filter only if exec can give it no privileges. */
	if (listener < 0 && errno == EACCES && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		listener = set_filter(&program, flags);
	return listener;
}
