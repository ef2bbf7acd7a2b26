// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints which version of adjtimex()'s function answers. */
#include <stdio.h>
#include <sys/timex.h>

#define MORE 100000

int main(void)
{
	struct timex clock = {0};

	puts(adjtimex(&clock) >= MORE ? "variant" : "original");
	return 0;
}
