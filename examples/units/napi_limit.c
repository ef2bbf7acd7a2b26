// SPDX-License-Identifier: GPL-2.0-only
/*
 * CVE-2026-53321: a program may let the kernel poll network devices for an
 * io_uring for any time, and its threads then spin in the kernel, where no signal
 * ends them. Debian's kernels have the fix since 6.12.115; this unit brings it
 * to earlier ones. The function is that of 6.12.115.
 */
#include <kadence/unit.h>
#include <linux/io_uring_types.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/uaccess.h>

#define LONGEST_US 10000

KADENCE_REPLACES(io_register_napi, int, struct io_ring_ctx *ctx, void __user *arg)
{
	const struct io_uring_napi present = {
	    .busy_poll_to = ktime_to_us(ctx->napi_busy_poll_dt),
	    .prefer_busy_poll = ctx->napi_prefer_busy_poll,
	};
	struct io_uring_napi napi;

	if (ctx->flags & IORING_SETUP_IOPOLL)
		return -EINVAL;
	if (copy_from_user(&napi, arg, sizeof(napi)))
		return -EFAULT;
	if (napi.pad[0] || napi.pad[1] || napi.pad[2] || napi.resv)
		return -EINVAL;
	if (copy_to_user(arg, &present, sizeof(present)))
		return -EFAULT;
	napi.busy_poll_to = min(LONGEST_US, napi.busy_poll_to);
	WRITE_ONCE(ctx->napi_busy_poll_dt, napi.busy_poll_to * NSEC_PER_USEC);
	WRITE_ONCE(ctx->napi_prefer_busy_poll, !!napi.prefer_busy_poll);
	WRITE_ONCE(ctx->napi_enabled, true);
	return 0;
}

KADENCE_UNIT_FOR_EVERYBODY;
