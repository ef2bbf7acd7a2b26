// SPDX-License-Identifier: MIT
/*
 * Interposed: calls that wait, perhaps for the answer to what a ring holds, and
 * calls that tell somebody else to look.
 */
#define _GNU_SOURCE
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "interpose.h"

/* Of programs that were compiled with _FORTIFY_SOURCE. */
int __poll_chk(struct pollfd *, nfds_t, int, size_t);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);

#define ALL kadapt_settle_all()

INTERPOSE(ALL, int, poll, (struct pollfd * list, nfds_t count, int timeout), (list, count, timeout))
INTERPOSE(ALL, int, ppoll,
	  (struct pollfd * list, nfds_t count, const struct timespec *timeout,
	   const sigset_t *mask),
	  (list, count, timeout, mask))
INTERPOSE(ALL, int, __poll_chk, (struct pollfd * list, nfds_t count, int timeout, size_t size),
	  (list, count, timeout, size))
INTERPOSE(ALL, int, __ppoll_chk,
	  (struct pollfd * list, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
	   size_t size),
	  (list, count, timeout, mask, size))
INTERPOSE(ALL, int, select,
	  (int count, fd_set *in, fd_set *out, fd_set *other, struct timeval *timeout),
	  (count, in, out, other, timeout))
INTERPOSE(ALL, int, pselect,
	  (int count, fd_set *in, fd_set *out, fd_set *other, const struct timespec *timeout,
	   const sigset_t *mask),
	  (count, in, out, other, timeout, mask))
INTERPOSE(ALL, int, epoll_wait, (int set, struct epoll_event *events, int count, int timeout),
	  (set, events, count, timeout))
INTERPOSE(ALL, int, epoll_pwait,
	  (int set, struct epoll_event *events, int count, int timeout, const sigset_t *mask),
	  (set, events, count, timeout, mask))
INTERPOSE(ALL, int, epoll_pwait2,
	  (int set, struct epoll_event *events, int count, const struct timespec *timeout,
	   const sigset_t *mask),
	  (set, events, count, timeout, mask))

INTERPOSE(ALL, int, sched_yield, (void), ())
INTERPOSE(ALL, unsigned int, sleep, (unsigned int seconds), (seconds))
INTERPOSE(ALL, int, usleep, (useconds_t microseconds), (microseconds))
INTERPOSE(ALL, int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left))
INTERPOSE(ALL, int, clock_nanosleep,
	  (clockid_t clock, int flags, const struct timespec *time, struct timespec *left),
	  (clock, flags, time, left))
INTERPOSE(ALL, int, pause, (void), ())
INTERPOSE(ALL, int, sigsuspend, (const sigset_t *mask), (mask))
INTERPOSE(ALL, int, sigwait, (const sigset_t *set, int *signal), (set, signal))
INTERPOSE(ALL, int, sigwaitinfo, (const sigset_t *set, siginfo_t *information), (set, information))
INTERPOSE(ALL, int, sigtimedwait,
	  (const sigset_t *set, siginfo_t *information, const struct timespec *timeout),
	  (set, information, timeout))

INTERPOSE(ALL, pid_t, wait, (int *status), (status))
INTERPOSE(ALL, pid_t, waitpid, (pid_t process, int *status, int options),
	  (process, status, options))
INTERPOSE(ALL, int, waitid, (idtype_t type, id_t id, siginfo_t *information, int options),
	  (type, id, information, options))
INTERPOSE(ALL, pid_t, wait3, (int *status, int options, struct rusage *usage),
	  (status, options, usage))
INTERPOSE(ALL, pid_t, wait4, (pid_t process, int *status, int options, struct rusage *usage),
	  (process, status, options, usage))

INTERPOSE(ALL, int, sem_wait, (sem_t * semaphore), (semaphore))
INTERPOSE(ALL, int, sem_timedwait, (sem_t * semaphore, const struct timespec *until),
	  (semaphore, until))
INTERPOSE(ALL, int, sem_clockwait,
	  (sem_t * semaphore, clockid_t clock, const struct timespec *until),
	  (semaphore, clock, until))
INTERPOSE(ALL, int, sem_post, (sem_t * semaphore), (semaphore))

INTERPOSE(ALL, int, pthread_join, (pthread_t thread, void **result), (thread, result))
INTERPOSE(ALL, int, pthread_timedjoin_np,
	  (pthread_t thread, void **result, const struct timespec *until), (thread, result, until))
INTERPOSE(ALL, int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex),
	  (condition, mutex))
INTERPOSE(ALL, int, pthread_cond_timedwait,
	  (pthread_cond_t * condition, pthread_mutex_t *mutex, const struct timespec *until),
	  (condition, mutex, until))
INTERPOSE(ALL, int, pthread_cond_clockwait,
	  (pthread_cond_t * condition, pthread_mutex_t *mutex, clockid_t clock,
	   const struct timespec *until),
	  (condition, mutex, clock, until))
INTERPOSE(ALL, int, pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier))
INTERPOSE_LAST(ALL, pthread_exit, (void *result), (result))
INTERPOSE(ALL, int, thrd_join, (thrd_t thread, int *result), (thread, result))
INTERPOSE(ALL, int, thrd_sleep, (const struct timespec *time, struct timespec *left), (time, left))
INTERPOSE_VOID(ALL, thrd_yield, (void), ())
INTERPOSE_LAST(ALL, thrd_exit, (int result), (result))
INTERPOSE(ALL, int, cnd_wait, (cnd_t * condition, mtx_t *mutex), (condition, mutex))
INTERPOSE(ALL, int, cnd_timedwait, (cnd_t * condition, mtx_t *mutex, const struct timespec *until),
	  (condition, mutex, until))

INTERPOSE(ALL, int, semop, (int set, struct sembuf *operations, size_t count),
	  (set, operations, count))
INTERPOSE(ALL, int, semtimedop,
	  (int set, struct sembuf *operations, size_t count, const struct timespec *timeout),
	  (set, operations, count, timeout))
INTERPOSE(ALL, int, msgsnd, (int queue, const void *message, size_t size, int flags),
	  (queue, message, size, flags))
INTERPOSE(ALL, ssize_t, msgrcv, (int queue, void *message, size_t size, long type, int flags),
	  (queue, message, size, type, flags))
INTERPOSE(ALL, int, mq_send, (mqd_t queue, const char *message, size_t size, unsigned int priority),
	  (queue, message, size, priority))
INTERPOSE(ALL, ssize_t, mq_receive,
	  (mqd_t queue, char *message, size_t size, unsigned int *priority),
	  (queue, message, size, priority))

INTERPOSE(ALL, int, kill, (pid_t process, int number), (process, number))
INTERPOSE(ALL, int, killpg, (pid_t group, int number), (group, number))
INTERPOSE(ALL, int, tgkill, (pid_t process, pid_t thread, int number), (process, thread, number))
INTERPOSE(ALL, int, raise, (int number), (number))
INTERPOSE(ALL, int, sigqueue, (pid_t process, int number, const union sigval value),
	  (process, number, value))
INTERPOSE(ALL, int, pthread_kill, (pthread_t thread, int number), (thread, number))
INTERPOSE_LAST(ALL, abort, (void), ())

const void *const kadapt_interposed_waits = poll;
