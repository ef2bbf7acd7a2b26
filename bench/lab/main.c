// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the command line and measures the operations that it names. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "lab.h"

struct setting setting = {
    .rounds = 11,
};

/* Memory comes first, before other operations use any. */
static const struct operation *const groups[] = {
    memory_operations, page_operations,	  call_operations,   process_operations, file_operations,
    ring_operations,   socket_operations, method_operations, latency_operations, timer_operations,
};

#define GROUPS (sizeof(groups) / sizeof(*groups))

static int chosen(const char *name, char **names)
{
	if (!*names)
		return 1;
	for (; *names; names++)
		if (strcmp(name, *names) == 0)
			return 1;
	return 0;
}

static int known(const char *name)
{
	for (size_t i = 0; i < GROUPS; i++)
		for (const struct operation *each = groups[i]; each->name; each++)
			if (strcmp(each->name, name) == 0)
				return 1;
	return 0;
}

static int usage(void)
{
	fputs("usage: lab [-l] [-m BYTES] [-s DIRECTORY] [-r ROUNDS] [OPERATION...]\n", stderr);
	return 2;
}

static noreturn void list(void)
{
	for (size_t i = 0; i < GROUPS; i++)
		for (const struct operation *each = groups[i]; each->name; each++)
			puts(each->name);
	exit(EXIT_SUCCESS);
}

/* Returns a number above 0, or 0 if the text is not such a number. */
static unsigned long number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	return *end || *text == '-' ? 0 : value;
}

static int read_options(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "lm:s:r:")) != -1) {
		if (option == 'l')
			list();
		else if (option == 's')
			setting.sink = optarg;
		else if (option == 'm' && number(optarg))
			setting.guest_bytes = number(optarg);
		else if (option == 'r' && number(optarg) && number(optarg) <= MOST_ROUNDS)
			setting.rounds = number(optarg);
		else
			return usage();
	}
	return 0;
}

/* The addresses of stack and heap determine how many page tables a fork copies. */
static void same_addresses_always(char **argv)
{
	int now = personality(0xffffffff);

	if (now == -1 || now & ADDR_NO_RANDOMIZE || personality(now | ADDR_NO_RANDOMIZE) == -1)
		return;
	execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
	int status;

	same_addresses_always(argv);
	status = read_options(argc, argv);

	if (status)
		return status;
	for (char **name = argv + optind; *name; name++)
		if (!known(*name)) {
			fprintf(stderr, "lab: there is no operation %s\n", *name);
			return 2;
		}
	signal(SIGPIPE, SIG_IGN);
	printf("{\"file_system\": \"%s\", \"guest_bytes\": %lu, \"clock_cost\": %.1f}\n",
	       sink_file_system(), setting.guest_bytes, clock_cost());
	fflush(stdout);
	for (size_t i = 0; i < GROUPS; i++)
		for (const struct operation *each = groups[i]; each->name; each++)
			if (chosen(each->name, argv + optind))
				measure(each);
	return 0;
}
