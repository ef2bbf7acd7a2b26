// SPDX-License-Identifier: MIT
/*
 * Threads and children inherit the slice of the thread that creates them, but not its
 * phase. So the creator has the kernel's default slice during these calls. The functions
 * are interposed like those of guard.c.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>

#include "libkadapt.h"
#include "slice/slice.h"

static uint32_t pause_slice(void)
{
	uint32_t slice = kadapt_slice < KADAPT_SLICE_LEFT ? kadapt_slice & ~KADAPT_SLICE_AGAIN : 0;

	if (slice)
		kadapt_slice_change(0);
	return slice;
}

static void resume_slice(uint32_t slice)
{
	if (slice)
		kadapt_slice_change(slice);
}

/* (name, parameters, arguments) */
#define CREATING_FUNCTIONS(FUNCTION)                                                               \
	FUNCTION(pthread_create,                                                                   \
		 (pthread_t * thread, const pthread_attr_t *attributes, void *(*begin)(void *),    \
		  void *argument),                                                                 \
		 (thread, attributes, begin, argument))                                            \
	FUNCTION(posix_spawn,                                                                      \
		 (pid_t * process, const char *path, const posix_spawn_file_actions_t *actions,    \
		  const posix_spawnattr_t *attributes, char *const words[],                        \
		  char *const environment[]),                                                      \
		 (process, path, actions, attributes, words, environment))                         \
	FUNCTION(posix_spawnp,                                                                     \
		 (pid_t * process, const char *file, const posix_spawn_file_actions_t *actions,    \
		  const posix_spawnattr_t *attributes, char *const words[],                        \
		  char *const environment[]),                                                      \
		 (process, file, actions, attributes, words, environment))

#define DEFINE_NEXT(name, parameters, arguments) static int(*next_##name) parameters;

#define FIND_NEXT(name, parameters, arguments)                                                     \
	next_##name = (__typeof__(next_##name))dlsym(RTLD_NEXT, #name);

CREATING_FUNCTIONS(DEFINE_NEXT)

__attribute__((constructor(101))) static void find_next(void){CREATING_FUNCTIONS(FIND_NEXT)}

#define INTERPOSE(name, parameters, arguments)                                                     \
	__attribute__((weak)) int name parameters                                                  \
	{                                                                                          \
		uint32_t slice = pause_slice();                                                    \
		int result;                                                                        \
                                                                                                   \
		if (!next_##name)                                                                  \
			find_next();                                                               \
		result = next_##name arguments;                                                    \
		resume_slice(slice);                                                               \
		return result;                                                                     \
	}

CREATING_FUNCTIONS(INTERPOSE)
