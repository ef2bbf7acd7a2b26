/* SPDX-License-Identifier: MIT */
/*
 * libkadapt: phase calls and I/O paths for adapted programs, linked into them
 * statically.
 *
 * The compiler plugin inserts the calls and emits kadapt_plan; a program may
 * also call and define them itself. Without /dev/kadapt, without permission or
 * with an interface of another version every call does at once what it would
 * do in the plain program, for ever.
 *
 * All functions may be called from any thread; from signal handlers, too, where
 * the function in whose place they stand may. Phase calls leave errno alone.
 * Nothing is printed. A forked child starts in no phase and opens the device
 * anew when it first needs it.
 *
 * With KADAPT_COUNTERS=FILE in the environment a process that uses the device
 * appends, when it ends by exit(), one line of JSON to FILE:
 *
 *	{"pid": 7, "phases": [{"phase": 0, "entries": 3, "time_ns": 12,
 *	 "voluntary_switches": 0, "involuntary_switches": 1}],
 *	 "io": {"appends": 9, "bytes": 144, "binds": 1, "drains": 1, "plain": 1,
 *	 "reads": 0, "looks": 0}}
 *
 * "io" is there where the program has I/O paths: records that went into rings
 * and their bytes, bindings, drains that the library asked for, redirected calls
 * that were made as they are, records that were read without a call, and times
 * that the kernel was asked to show some.
 */
#ifndef LIBKADAPT_H
#define LIBKADAPT_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KADAPT_PLAN_ABI 2

/* What phase shall do what; laid out as the compiler plugin emits it. */
struct kadapt_plan_policy {
	uint32_t phase;
	uint32_t flags;		  /* as struct kadapt_policy's */
	uint64_t quantum_ns;	  /* 0: the kernel's default; cut to what the kernel allows */
	uint64_t file_delay_ns;	  /* 0: the kernel's default; cut likewise */
	uint64_t stream_delay_ns; /* 0: the kernel's default; cut likewise */
};

struct kadapt_plan {
	uint32_t abi;	   /* KADAPT_PLAN_ABI; another is not used */
	uint32_t policies; /* length of policy[] */
	uint32_t flags;	   /* KADAPT_PLAN_* */
	uint32_t reserved; /* 0 */
	struct kadapt_plan_policy policy[];
};

/* Rings and batches where calls were redirected. */
#define KADAPT_PLAN_IO 0x1
/* Rings also for calls that were not, as those of shared libraries. */
#define KADAPT_PLAN_STREAMS 0x2
/* Rings only where nothing can be told apart from plain calls. */
#define KADAPT_PLAN_STRICT 0x4

/* The program's plan; a program without one enters no phases. */
extern const struct kadapt_plan kadapt_plan __attribute__((weak));

/* What inserted code calls: the calling thread is now in this phase. */
void kadapt_phase_enter(uint32_t phase);

/* The same, but says what became of it: 0 or -errno; -ENODEV without device. */
int kadapt_enter(uint32_t phase);

/* The calling thread is in no phase; 0 or -errno. */
int kadapt_leave(void);

/*
 * A reference to it makes the linker put the interposed functions of the C
 * library into the program (docs/io.md). Not 0 where they are.
 */
extern const int kadapt_io_anchor;

/* In the place of redirected calls, each with its original's meaning. */
ssize_t kadapt_write(int descriptor, const void *record, size_t size);
ssize_t kadapt_pwrite(int descriptor, const void *record, size_t size, off_t offset);
ssize_t kadapt_pwrite64(int descriptor, const void *record, size_t size, off_t offset);
ssize_t kadapt_writev(int descriptor, const struct iovec *pieces, int count);
ssize_t kadapt_send(int descriptor, const void *record, size_t size, int flags);
ssize_t kadapt_sendto(int descriptor, const void *record, size_t size, int flags,
		      const struct sockaddr *address, socklen_t address_size);
ssize_t kadapt_read(int descriptor, void *buffer, size_t size);
ssize_t kadapt___read_chk(int descriptor, void *buffer, size_t size, size_t room);

size_t kadapt_fwrite(const void *records, size_t size, size_t count, FILE *stream);
size_t kadapt_fwrite_unlocked(const void *records, size_t size, size_t count, FILE *stream);
int kadapt_fputs(const char *text, FILE *stream);
int kadapt_fputs_unlocked(const char *text, FILE *stream);
int kadapt_puts(const char *text);
int kadapt_fputc(int character, FILE *stream);
int kadapt_fputc_unlocked(int character, FILE *stream);
int kadapt_putc(int character, FILE *stream);
int kadapt_putc_unlocked(int character, FILE *stream);
int kadapt_putchar(int character);
int kadapt_putchar_unlocked(int character);
int kadapt_fflush(FILE *stream);
int kadapt_fflush_unlocked(FILE *stream);
int kadapt_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
int kadapt_vprintf(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));
int kadapt_fprintf(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));
int kadapt_vfprintf(FILE *stream, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
int kadapt___printf_chk(int flag, const char *format, ...) __attribute__((format(printf, 2, 3)));
int kadapt___vprintf_chk(int flag, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
int kadapt___fprintf_chk(FILE *stream, int flag, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int kadapt___vfprintf_chk(FILE *stream, int flag, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/*
 * A loop that writes `count` pieces of `size` bytes, the first at `base`, each
 * `stride` after the one before, and ends at the first that is not written
 * whole. Returns how many were; if that is below `count`, *last is what the
 * next piece's call returned: a short count, or -1 and errno.
 */
int64_t kadapt_batch_write(int descriptor, const void *base, uint64_t size, uint64_t stride,
			   uint64_t count, int64_t *last);
int64_t kadapt_batch_send(int descriptor, const void *base, uint64_t size, uint64_t stride,
			  uint64_t count, int flags, int64_t *last);

#ifdef __cplusplus
}
#endif

#endif
