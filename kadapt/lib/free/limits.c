// SPDX-License-Identifier: MIT
/*
 * A program that limits its own addresses or data does not reckon with the addresses that
 * this library reserved. So before such a limit is set, the arena unmaps all addresses
 * that are not in use. The functions are interposed like free(). The library does not
 * notice a limit that another process sets.
 */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arena/arena.h"
#include "arena/next.h"

const int kadapt_limits_anchor = 1;

static int set_limit(pid_t process, int resource, const void *limit, void *before)
{
	if (limit && (resource == RLIMIT_AS || resource == RLIMIT_DATA))
		kadapt_arena_close();
	return (int)syscall(SYS_prlimit64, process, resource, limit, before);
}

__attribute__((weak)) int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	return set_limit(0, (int)resource, limit, NULL);
}

__attribute__((weak)) int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
{
	return set_limit(0, (int)resource, limit, NULL);
}

__attribute__((weak)) int prlimit(pid_t process, __rlimit_resource_t resource,
				  const struct rlimit *limit, struct rlimit *before)
{
	return set_limit(process, (int)resource, limit, before);
}

__attribute__((weak)) int prlimit64(pid_t process, __rlimit_resource_t resource,
				    const struct rlimit64 *limit, struct rlimit64 *before)
{
	return set_limit(process, (int)resource, limit, before);
}
