// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The relay's command line, written by ../session.py:
 *
 *   kadence-relay --image FILE --init FILE --memory SIZE --memory-directory DIR --parent PID
 *                 --report FD --boot-timeout S --hang-timeout S [--timeout S]
 *                 [--closed STREAM]... [--argument KERNEL_ARGUMENT]... -- COMMAND...
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>

#include "relay.h"

static int64_t seconds_option(const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	errno = EINVAL;
	if (end == text || *end || !(seconds > 0) || seconds > 1e9)
		fail(text);
	return (int64_t)(seconds * 1e9);
}

static int number_option(const char *text, long limit)
{
	char *end;
	long number = strtol(text, &end, 10);

	errno = EINVAL;
	if (end == text || *end || number < 0 || number > limit)
		fail(text);
	return (int)number;
}

static void add_kernel_argument(struct options *options, const char *argument)
{
	errno = E2BIG;
	if (options->kernel_argument_count == KERNEL_ARGUMENTS)
		fail("--argument");
	options->kernel_arguments[options->kernel_argument_count++] = argument;
}

static void take_option(struct options *options, int option)
{
	switch (option) {
	case 'i':
		options->image = optarg;
		break;
	case 'I':
		options->init = optarg;
		break;
	case 'm':
		options->memory = optarg;
		break;
	case 'd':
		options->memory_directory = optarg;
		break;
	case 'p':
		options->parent = number_option(optarg, 1L << 30);
		break;
	case 'r':
		options->report = number_option(optarg, 1L << 30);
		break;
	case 'b':
		options->boot_timeout_ns = seconds_option(optarg);
		break;
	case 'h':
		options->hang_timeout_ns = seconds_option(optarg);
		break;
	case 't':
		options->timeout_ns = seconds_option(optarg);
		break;
	case 'c':
		options->closed[number_option(optarg, STANDARD_STREAMS - 1)] = true;
		break;
	case 'a':
		add_kernel_argument(options, optarg);
		break;
	default:
		exit(EXIT_FAILURE);
	}
}

struct options options_parse(int count, char **arguments)
{
	static const struct option known[] = {
	    {"image", required_argument, NULL, 'i'},
	    {"init", required_argument, NULL, 'I'},
	    {"memory", required_argument, NULL, 'm'},
	    {"memory-directory", required_argument, NULL, 'd'},
	    {"parent", required_argument, NULL, 'p'},
	    {"report", required_argument, NULL, 'r'},
	    {"boot-timeout", required_argument, NULL, 'b'},
	    {"hang-timeout", required_argument, NULL, 'h'},
	    {"timeout", required_argument, NULL, 't'},
	    {"closed", required_argument, NULL, 'c'},
	    {"argument", required_argument, NULL, 'a'},
	    {NULL, 0, NULL, 0},
	};
	struct options options = {.report = -1};
	int option;

	while ((option = getopt_long(count, arguments, "+", known, NULL)) != -1)
		take_option(&options, option);
	options.command = arguments + optind;
	errno = EINVAL;
	if (!options.image || !options.init || !options.memory || !options.memory_directory ||
	    !options.parent || options.report < 0 || !options.boot_timeout_ns ||
	    !options.hang_timeout_ns || !options.command[0])
		fail("arguments");
	fcntl(options.report, F_SETFD, FD_CLOEXEC);
	return options;
}
