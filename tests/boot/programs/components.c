// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the kernel's answers about the components of the register state, one number per line.
 * The first two are the supported and the permitted components. The next three are the errno of
 * requests for tiles (18), for AVX (2) and for a component that no processor has (62). The last is
 * the permitted components after these requests.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SUPPORTED = 0x1021, PERMITTED = 0x1022, REQUEST = 0x1023 };

static void tell(int option)
{
	unsigned long components = 0;

	if (syscall(SYS_arch_prctl, option, &components))
		printf("errno %d\n", errno);
	else
		printf("%#lx\n", components);
}

static void request(unsigned long component)
{
	errno = 0;
	syscall(SYS_arch_prctl, REQUEST, component);
	printf("%d\n", errno);
}

int main(void)
{
	tell(SUPPORTED);
	tell(PERMITTED);
	request(18);
	request(2);
	request(62);
	tell(PERMITTED);
	return 0;
}
