// SPDX-License-Identifier: MIT
/*
 * Interposes the C library's functions by which threads begin and end, and by which the process
 * ends or becomes another program without exit. In a dynamic program, these definitions are found
 * before the library's. In a static program, the linker resolves calls to them (--wrap), and
 * STATIC is defined.
 */
#include "kprofile.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <unistd.h>

#ifdef STATIC
#define OURS(name) __wrap_##name
#define REAL(name) __real_##name

/*
 * GCC's libraries refer weakly to the functions of threads. If pthread_key_create() is linked, they
 * assume that all of them are (__gthread_active_p() in gthr-posix.h). This file links
 * pthread_key_create(), so it links the others as well.
 */
__attribute__((used)) static const void *const of_threads[] = {
    pthread_cancel,
    pthread_cond_broadcast,
    pthread_cond_destroy,
    pthread_cond_init,
    pthread_cond_signal,
    pthread_cond_timedwait,
    pthread_cond_wait,
    pthread_create,
    pthread_detach,
    pthread_equal,
    pthread_getspecific,
    pthread_join,
    pthread_key_delete,
    pthread_mutex_destroy,
    pthread_mutex_init,
    pthread_mutex_lock,
    pthread_mutex_timedlock,
    pthread_mutex_trylock,
    pthread_mutex_unlock,
    pthread_mutexattr_destroy,
    pthread_mutexattr_init,
    pthread_mutexattr_settype,
    pthread_self,
    sched_yield,
};
#else
#define OURS(name) name
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#endif

/* module.c refers to this symbol, so that the linker takes this file. */
HIDDEN const char kadence_interpose = 1;

struct start {
	void *(*function)(void *);
	void *argument;
	struct start *next;
};

static struct start *unused;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Runs as the last of the thread's destructors: the others may run code that counts. */
static void end_of_thread(void *turns_left)
{
	const intptr_t left = (intptr_t)turns_left - 1;

	if (left > 0) {
		pthread_setspecific(key, (void *)left);
	} else if (lock()) {
		thread_end();
		unlock();
	}
}

static void make_key(void)
{
	pthread_key_create(&key, end_of_thread);
}

static struct start *take_start(void)
{
	struct start *start = NULL;

	if (!lock())
		return NULL;
	start = unused;
	if (start)
		unused = start->next;
	else
		start = memory_take(sizeof(*start));
	unlock();
	return start;
}

static void *run(void *given)
{
	struct start start = *(struct start *)given;

	pthread_setspecific(key, (void *)PTHREAD_DESTRUCTOR_ITERATIONS);
	if (lock()) {
		((struct start *)given)->next = unused;
		unused = given;
		thread_begin();
		unlock();
	}
	return start.function(start.argument);
}

#ifdef STATIC
extern int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
extern void __real__exit(int) __attribute__((noreturn));
extern void __real__Exit(int) __attribute__((noreturn));
extern int __real_execve(const char *, char *const[], char *const[]);
extern int __real_execvpe(const char *, char *const[], char *const[]);
extern int __real_fexecve(int, char *const[], char *const[]);
#endif

SHARED int OURS(pthread_create)(pthread_t *thread, const pthread_attr_t *attributes,
				void *(*function)(void *), void *argument)
{
	struct start *start;

	pthread_once(&once, make_key);
	start = take_start();
	if (!start)
		return REAL(pthread_create)(thread, attributes, function, argument);
	start->function = function;
	start->argument = argument;
	return REAL(pthread_create)(thread, attributes, run, start);
}

SHARED void OURS(_exit)(int status)
{
	kprofile_finish();
	REAL(_exit)(status);
	__builtin_unreachable();
}

SHARED void OURS(_Exit)(int status)
{
	kprofile_finish();
	REAL(_Exit)(status);
	__builtin_unreachable();
}

SHARED int OURS(execve)(const char *path, char *const arguments[], char *const environment[])
{
	process_may_be_replaced();
	return REAL(execve)(path, arguments, environment);
}

SHARED int OURS(execvpe)(const char *file, char *const arguments[], char *const environment[])
{
	process_may_be_replaced();
	return REAL(execvpe)(file, arguments, environment);
}

SHARED int OURS(fexecve)(int file, char *const arguments[], char *const environment[])
{
	process_may_be_replaced();
	return REAL(fexecve)(file, arguments, environment);
}

SHARED int OURS(execv)(const char *path, char *const arguments[])
{
	return OURS(execve)(path, arguments, environ);
}

SHARED int OURS(execvp)(const char *file, char *const arguments[])
{
	return OURS(execvpe)(file, arguments, environ);
}

/* Counts the arguments before the null pointer, the first argument, and the null pointer. */
static size_t count_arguments(va_list list)
{
	size_t count = 1;

	while (va_arg(list, char *))
		count++;
	return count + 1;
}

#define COLLECT_ARGUMENTS(first)                                                                   \
	va_list list;                                                                              \
	va_start(list, first);                                                                     \
	const size_t count = count_arguments(list);                                                \
	va_end(list);                                                                              \
	char *arguments[count];                                                                    \
	va_start(list, first);                                                                     \
	arguments[0] = (char *)first;                                                              \
	for (size_t index = 1; index < count; index++)                                             \
	arguments[index] = va_arg(list, char *)

SHARED int OURS(execl)(const char *path, const char *first, ...)
{
	COLLECT_ARGUMENTS(first);
	va_end(list);
	return OURS(execve)(path, arguments, environ);
}

SHARED int OURS(execlp)(const char *file, const char *first, ...)
{
	COLLECT_ARGUMENTS(first);
	va_end(list);
	return OURS(execvpe)(file, arguments, environ);
}

SHARED int OURS(execle)(const char *path, const char *first, ...)
{
	COLLECT_ARGUMENTS(first);
	char *const *environment = va_arg(list, char *const *);

	va_end(list);
	return OURS(execve)(path, arguments, environment);
}
