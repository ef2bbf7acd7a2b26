// SPDX-License-Identifier: GPL-2.0-or-later
#include <poll.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/select.h>
#include <unistd.h>

#include "causes.h"

#define DESCRIPTORS 300

void poll_many(void)
{
	static struct pollfd many[DESCRIPTORS];
	int ends[2];

	check(pipe(ends));
	for (int i = 0; i < DESCRIPTORS; i++)
		many[i] = (struct pollfd){.fd = ends[0], .events = POLLIN};
	for (int i = 0; i < 50; i++)
		poll(many, DESCRIPTORS, 0);
	close(ends[0] | close(ends[1]));
}

void epoll_ready(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int ends[2], ready = epoll_create1(0);

	check(pipe(ends));
	epoll_ctl(ready, EPOLL_CTL_ADD, ends[0], &event);
	for (int i = 0; i < 50; i++)
		epoll_wait(ready, &event, 1, 0);
	close(ready);
	close(ends[0] | close(ends[1]));
}

void select_many(void)
{
	struct timeval now = {};
	int ends[2];
	fd_set set;

	check(pipe(ends));
	for (int i = 0; i < 50; i++) {
		FD_ZERO(&set);
		for (int fd = 100; fd < 100 + DESCRIPTORS; fd++) {
			if (!i)
				dup2(ends[0], fd);
			FD_SET(fd, &set);
		}
		select(100 + DESCRIPTORS, &set, NULL, NULL, &now);
	}
	for (int fd = 100; fd < 100 + DESCRIPTORS; fd++)
		close(fd);
	close(ends[0] | close(ends[1]));
}

static void random_in(size_t size, int times)
{
	for (int i = 0; i < times; i++)
		check(getrandom(block, size, 0));
}

void random_often(void)
{
	random_in(8, 500);
}

void random_once(void)
{
	random_in(4000, 1);
}
