// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events in the middle of an append. The record is on a page that may not be read. So a handler
 * runs after the append has checked the ring's limit, and before the ring accepts the record.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cases.h"
#include "device.h"
#include "base/device_file.h"
#include "libkadapt.h"
#include "sink.h"

#define PAGE 4096

static char *page;
static struct sink sink;
static void (*in_the_midst)(void);

static void handle(int number)
{
	(void)number;
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	memcpy(page, "midst67890", RECORD_BYTES);
	in_the_midst();
}

static void write_too(void)
{
	if (kadapt_write(sink.writer, "handler890", RECORD_BYTES) != RECORD_BYTES)
		_exit(FAILED);
}

/* The kernel does the same after some time. */
static void let_go(void)
{
	for (unsigned long ring = 0; ring < 4; ring++)
		syscall(SYS_ioctl, kadapt_device, KADAPT_UNBIND, ring);
}

static void wait_for_drain(void)
{
	for (unsigned long ring = 0; ring < 4; ring++)
		syscall(SYS_ioctl, kadapt_device, KADAPT_DRAIN, ring);
}

static enum outcome append_with(void (*function)(void), const char *expected)
{
	const long length = (long)strlen(expected);
	char text[100];

	in_the_midst = function;
	CHECK(kadapt_enter(SLOW_PHASE) == 0);
	CHECK(sink_open(&sink) == 0);
	page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED);
	signal(SIGSEGV, handle);
	CHECK(sink_fill(&sink) == 0);
	CHECK(kadapt_write(sink.writer, page, RECORD_BYTES) == RECORD_BYTES);
	CHECK(kadapt_write(sink.writer, "after67890", RECORD_BYTES) == RECORD_BYTES);
	CHECK(pread(sink.writer, text, sizeof(text), 0) == length);
	if (memcmp(text, expected, (size_t)length))
		note("%.*s", (int)length, text);
	CHECK(!memcmp(text, expected, (size_t)length));
	sink_close(&sink);
	return PASSED;
}

#define THREE RECORD RECORD RECORD

static enum outcome test_write(void)
{
	return append_with(write_too, THREE "handler890midst67890after67890");
}

static enum outcome test_let_go(void)
{
	return append_with(let_go, THREE "midst67890after67890");
}

static enum outcome test_drain(void)
{
	return append_with(wait_for_drain, THREE "midst67890after67890");
}

const struct test_case midst_cases[] = {
    {"midst_write", "a handler writes to the same descriptor", test_write},
    {"midst_let_go", "the kernel lets the descriptor go", test_let_go},
    {"midst_drain", "the kernel empties the ring", test_drain},
    {0},
};
