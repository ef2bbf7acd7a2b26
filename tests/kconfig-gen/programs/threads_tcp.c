/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two threads, TCP over loopback, shared memory and a timer: prints the sum of what it received. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define COUNT 1000

static struct sockaddr_in address = {.sin_family = AF_INET};

static void *sender(void *argument)
{
	int connection = socket(AF_INET, SOCK_STREAM, 0);
	int *failed = argument;

	*failed = connect(connection, (struct sockaddr *)&address, sizeof(address));
	for (int number = 1; number <= COUNT && !*failed; number++)
		*failed = write(connection, &number, sizeof(number)) != sizeof(number);
	close(connection);
	return NULL;
}

int main(void)
{
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	int *failed = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct timespec pause = {.tv_nsec = 1000000};
	long sum = 0;
	int number, connection;
	pthread_t thread;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1))
		return perror("listen"), 1;
	getsockname(listener, (struct sockaddr *)&address, &length);
	pthread_create(&thread, NULL, sender, failed);
	connection = accept(listener, NULL, NULL);
	while (recv(connection, &number, sizeof(number), MSG_WAITALL) == sizeof(number))
		sum += number;
	pthread_join(thread, NULL);
	nanosleep(&pause, NULL);
	printf("%ld\n", sum);
	return *failed;
}
