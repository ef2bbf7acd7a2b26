// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The relay's command line, written by ../session.py:
 *
 *   kadence-relay --memory-directory DIR --parent PID --report FD --boot-timeout S
 *                 --hang-timeout S [--timeout S] [--closed STREAM]... [--at-start COMMANDS]
 *                 [--signals FD] [--file PATH] [--processors N] --shared BYTES --words N --
 *                 KERNEL... COMMAND...
 *
 * where the first N words are the kernel's.
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

static void take_option(struct options *options, int option, int *words)
{
	switch (option) {
	case 'w':
		*words = number_option(optarg, 1L << 16);
		break;
	case 'S':
		options->shared_bytes = (size_t)number_option(optarg, 1L << 30);
		break;
	case 'P':
		options->processors = number_option(optarg, 1L << 16);
		break;
	case 's':
		options->at_start = optarg;
		break;
	case 'd':
		options->memory_directory = optarg;
		break;
	case 'p':
		options->parent = number_option(optarg, 1L << 30);
		break;
	case 'g':
		options->signals = number_option(optarg, 1L << 30);
		fcntl(options->signals, F_SETFD, FD_CLOEXEC);
		break;
	case 'f':
		options->file = optarg;
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
	default:
		exit(EXIT_FAILURE);
	}
}

static char **take_words(char **from, int count)
{
	char **words = calloc((size_t)count + 1, sizeof(*words));

	if (!words)
		fail("calloc");
	for (int i = 0; i < count; i++)
		words[i] = from[i];
	return words;
}

struct options options_parse(int count, char **arguments)
{
	static const struct option known[] = {
	    {"words", required_argument, NULL, 'w'},
	    {"shared", required_argument, NULL, 'S'},
	    {"processors", required_argument, NULL, 'P'},
	    {"at-start", required_argument, NULL, 's'},
	    {"memory-directory", required_argument, NULL, 'd'},
	    {"parent", required_argument, NULL, 'p'},
	    {"signals", required_argument, NULL, 'g'},
	    {"file", required_argument, NULL, 'f'},
	    {"report", required_argument, NULL, 'r'},
	    {"boot-timeout", required_argument, NULL, 'b'},
	    {"hang-timeout", required_argument, NULL, 'h'},
	    {"timeout", required_argument, NULL, 't'},
	    {"closed", required_argument, NULL, 'c'},
	    {NULL, 0, NULL, 0},
	};
	struct options options = {.report = -1, .signals = -1, .processors = 1};
	int option;
	int words = 0;

	while ((option = getopt_long(count, arguments, "+", known, NULL)) != -1)
		take_option(&options, option, &words);
	errno = EINVAL;
	if (!options.memory_directory || !options.parent || options.report < 0 ||
	    !options.boot_timeout_ns || !options.hang_timeout_ns || !words ||
	    count - optind <= words)
		fail("arguments");
	options.kernel = take_words(arguments + optind, words);
	options.command = arguments + optind + words;
	if (!options.file)
		options.file = options.command[0];
	fcntl(options.report, F_SETFD, FD_CLOEXEC);
	return options;
}
