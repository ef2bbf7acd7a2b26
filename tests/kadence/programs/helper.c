// SPDX-License-Identifier: GPL-2.0-or-later
/* helper WHAT: uses one feature that a kernel's configuration can leave out; fails without it. */
#include <linux/aio_abi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int use_sockets(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int ends[2], poll = epoll_create1(0);
	char byte = 1;

	return !socketpair(AF_UNIX, SOCK_STREAM, 0, ends) && write(ends[0], &byte, 1) == 1 &&
	       !epoll_ctl(poll, EPOLL_CTL_ADD, ends[1], &event) &&
	       epoll_wait(poll, &event, 1, -1) == 1;
}

static int use_internet(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) >= 0;
}

static int use_shared_memory(void)
{
	int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	char *memory = shmat(id, NULL, 0);

	if (id < 0 || memory == (void *)-1)
		return 0;
	memory[0] = 1;
	return !shmctl(id, IPC_RMID, NULL);
}

static int use_inotify(void)
{
	return inotify_add_watch(inotify_init1(0), "/", IN_CREATE) >= 0;
}

static int use_aio(void)
{
	aio_context_t context = 0;

	return !syscall(SYS_io_setup, 4, &context) && !syscall(SYS_io_destroy, context);
}

static const struct {
	const char *name;
	int (*use)(void);
} uses[] = {
    {"sockets", use_sockets}, {"internet", use_internet}, {"shared-memory", use_shared_memory},
    {"inotify", use_inotify}, {"aio", use_aio},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(uses) / sizeof(uses[0]); i++)
		if (!strcmp(argv[1], uses[i].name))
			return uses[i].use() ? EXIT_SUCCESS : EXIT_FAILURE;
	return EXIT_FAILURE;
}
