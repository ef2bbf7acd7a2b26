// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * In each of the sections 1 to SECTIONS, sends itself RAISED signals, and is interrupted all the
 * time by a timer.
 *
 *	signals SECTIONS RAISED
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include "../section.h"

#define INTERVAL_US 50

static void on_signal(int number)
{
	(void)number;
}

int main(int count, char **words)
{
	const struct itimerval interval = {{0, INTERVAL_US}, {0, INTERVAL_US}};

	if (count < 3)
		return 1;
	signal(SIGUSR1, on_signal);
	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &interval, NULL);
	for (int section = 1; section <= atoi(words[1]); section++) {
		mark(section);
		for (int i = 0; i < atoi(words[2]); i++)
			raise(SIGUSR1);
		mark(0);
	}
	return 0;
}
