// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls getrusage() twice in a phase that takes the unit `tallies`, and once more in a new visit
 * after each line that it reads. Prints how many calls the unit has counted.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kadapt.h"

static void call(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("calls: %ld\n", usage.ru_nsignals);
	fflush(stdout);
}

static void visit(int device)
{
	ioctl(device, KADAPT_ENTER, 0);
	ioctl(device, KADAPT_ENTER, 1);
}

int main(void)
{
	struct kadapt_policy policies[] = {{.phase = 0}, {.phase = 1}};
	struct kadapt_take take = {.phase = 1, .unit = "tallies"};
	int device = open("/dev/kadapt", O_RDWR | O_CLOEXEC);
	char line[16];

	for (int i = 0; i < 2; i++)
		if (ioctl(device, KADAPT_DEFINE, &policies[i]))
			perror("define");
	if (ioctl(device, KADAPT_TAKE, &take))
		perror("take");
	visit(device);
	call();
	call();
	while (fgets(line, sizeof(line), stdin)) {
		visit(device);
		call();
	}
	return 0;
}
