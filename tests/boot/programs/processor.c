// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A simulated processor with more or fewer registers than the real one. The tests preload this
 * library into User-Mode Linux, where it makes the host's register state STATE_BYTES long.
 *
 * Like the host, the library refuses a state of any other length. If the real state is shorter,
 * the library appends a tail and computes its words from the low half of xmm14. A kernel that
 * loses a part of the state, or mixes the states of two threads, fails the check at its next write.
 * If the real state is longer, the library keeps the rest for each host process and writes it back.
 * Two threads of one process must not use the registers in this rest.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { REAL_MOST = 1 << 16, WORD = sizeof(uint64_t) };
enum { XMM14 = 160 + 14 * 16, XSTATE_MASK = 512, AVX_END = 832 };
enum { GET_SUPPORTED = 0x1021, GET_PERMITTED = 0x1022 };
enum { LEGACY_AND_AVX = 7 };
enum { PROCESSES = 256 };

/* A host process's whole state when the kernel last read it. */
static struct process {
	pid_t pid;
	char state[REAL_MOST];
} processes[PROCESSES];

static struct process *process_of(pid_t pid)
{
	struct process *process = &processes[pid % PROCESSES];

	if (process->pid != pid)
		memset(process, 0, sizeof(*process));
	process->pid = pid;
	return process;
}

static size_t state_bytes(void)
{
	static size_t bytes;

	if (!bytes)
		bytes = strtoul(getenv("STATE_BYTES"), NULL, 10);
	return bytes;
}

static long host(int request, pid_t pid, struct iovec *vector)
{
	static long (*real)(int, ...);

	if (!real)
		real = (long (*)(int, ...))dlsym(RTLD_NEXT, "ptrace");
	return real(request, pid, NT_X86_XSTATE, vector);
}

/* The bit of the component that a process must request, from ON_REQUEST, or 0. */
static uint64_t on_request(void)
{
	const char *number = getenv("ON_REQUEST");

	return number ? UINT64_C(1) << strtoul(number, NULL, 10) : 0;
}

static uint64_t tail_word(const char *state, size_t place)
{
	uint64_t low;

	memcpy(&low, state + XMM14, WORD);
	return (low ^ place) * UINT64_C(0x9e3779b97f4a7c15);
}

static long read_state(pid_t pid, struct iovec *vector)
{
	char *real = process_of(pid)->state;
	struct iovec whole = {real, REAL_MOST};
	size_t bytes = vector->iov_len < state_bytes() ? vector->iov_len : state_bytes();

	if (host(PTRACE_GETREGSET, pid, &whole) < 0)
		return -1;
	for (size_t place = whole.iov_len; place + WORD <= bytes; place += WORD) {
		uint64_t word = tail_word(real, place);

		memcpy(real + place, &word, WORD);
	}
	memcpy(vector->iov_base, real, bytes);
	if (bytes <= AVX_END)
		((char *)vector->iov_base)[XSTATE_MASK] &= LEGACY_AND_AVX;
	vector->iov_len = bytes;
	return 0;
}

static void check_tail(const char *state, size_t from)
{
	for (size_t place = from; place + WORD <= state_bytes(); place += WORD) {
		uint64_t word = tail_word(state, place);

		if (memcmp(state + place, &word, WORD) == 0)
			continue;
		fprintf(stderr, "BUG: the register state's byte %zu belongs to another state\n",
			place);
		abort();
	}
}

static size_t real_bytes(pid_t pid)
{
	static size_t bytes;
	static char room[REAL_MOST];
	struct iovec whole = {room, sizeof(room)};

	if (!bytes && host(PTRACE_GETREGSET, pid, &whole) == 0)
		bytes = whole.iov_len;
	return bytes;
}

static long write_state(pid_t pid, const struct iovec *vector)
{
	char *kept = process_of(pid)->state;
	static char real[REAL_MOST]; /* not on the stack: the kernel's stacks have 16 KiB */
	struct iovec whole = {real, real_bytes(pid)};

	if (vector->iov_len != state_bytes()) {
		errno = EFAULT;
		return -1;
	}
	/* A frame may lack a component that the process did not request: those bytes are undefined.
	 */
	if (!on_request())
		check_tail(vector->iov_base, whole.iov_len);
	memcpy(real, kept, whole.iov_len);
	memcpy(real, vector->iov_base,
	       whole.iov_len < vector->iov_len ? whole.iov_len : vector->iov_len);
	if (vector->iov_len <= AVX_END)
		real[XSTATE_MASK] |= kept[XSTATE_MASK] & ~LEGACY_AND_AVX;
	return host(PTRACE_SETREGSET, pid, &whole);
}

long ptrace(enum __ptrace_request request, ...)
{
	static long (*real)(int, ...);
	va_list arguments;
	pid_t pid;
	void *address, *data;

	va_start(arguments, request);
	pid = va_arg(arguments, pid_t);
	address = va_arg(arguments, void *);
	data = va_arg(arguments, void *);
	va_end(arguments);
	if (address == (void *)NT_X86_XSTATE && request == PTRACE_GETREGSET)
		return read_state(pid, data);
	if (address == (void *)NT_X86_XSTATE && request == PTRACE_SETREGSET)
		return write_state(pid, data);
	if (!real)
		real = (long (*)(int, ...))dlsym(RTLD_NEXT, "ptrace");
	return real(request, pid, address, data);
}

long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long words[6];
	va_list arguments;

	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		words[i] = va_arg(arguments, long);
	va_end(arguments);
	if (number == SYS_arch_prctl && (words[0] == GET_SUPPORTED || words[0] == GET_PERMITTED)) {
		*(uint64_t *)words[1] = LEGACY_AND_AVX;
		if (words[0] == GET_SUPPORTED)
			*(uint64_t *)words[1] |= on_request();
		return 0;
	}
	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
