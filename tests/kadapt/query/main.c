// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints what the kernel offers: KADAPT_QUERY, a line for each feature. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "kadapt.h"

static const struct {
	unsigned long long bit;
	const char *name;
} features[] = {
    {KADAPT_FEATURE_QUANTUM, "quantum"},
    {KADAPT_FEATURE_RINGS, "rings"},
    {KADAPT_FEATURE_SHORT_DELAYS, "short delays"},
    {KADAPT_FEATURE_BATCHES, "batches"},
    {KADAPT_FEATURE_MEMORY, "memory"},
    {KADAPT_FEATURE_UNITS, "units"},
};

int main(void)
{
	struct kadapt_query query = {0};
	int device = open("/dev/kadapt", O_RDWR | O_CLOEXEC);

	if (device < 0 || ioctl(device, KADAPT_QUERY, &query)) {
		perror("/dev/kadapt");
		return 1;
	}
	printf("version %u, %u phases\n", query.version, query.phases);
	for (unsigned int i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		if (query.features & features[i].bit)
			printf("offers %s\n", features[i].name);
	return 0;
}
