// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "mount.h"

/* Fields of a line: ID, parent, major:minor, ... " - " type ... */
const char *mount_type(dev_t device)
{
	static char type[32] = "unknown";
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char line[4096];

	while (file && fgets(line, sizeof(line), file)) {
		unsigned int first, second;
		const char *rest = strstr(line, " - ");

		if (rest && sscanf(line, "%*d %*d %u:%u", &first, &second) == 2 &&
		    makedev(first, second) == device && sscanf(rest, " - %31s", type) == 1)
			break;
	}
	if (file)
		fclose(file);
	return type;
}
