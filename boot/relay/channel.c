// SPDX-License-Identifier: GPL-2.0-or-later
/* Fills the shared memory with the request. The command gets all that the relay inherited. */
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "relay.h"

#define PAGE 4096

static const uint64_t ring_sizes[STREAMS] = {1 << 20, 1 << 20, 1 << 18, 1 << 18};

static size_t strings_length(char **strings, uint32_t *count)
{
	size_t length = 0;

	for (*count = 0; strings[*count]; (*count)++)
		length += strlen(strings[*count]) + 1;
	return length;
}

static char *copy_strings(char *place, char **strings)
{
	for (; *strings; strings++)
		place = stpcpy(place, *strings) + 1;
	return place;
}

static uint64_t round_up(uint64_t length)
{
	return (length + PAGE - 1) / PAGE * PAGE;
}

static uint64_t ignored_signals(void)
{
	uint64_t ignored = 0;
	struct sigaction action;

	for (int number = 1; number < NSIG; number++)
		if (!sigaction(number, NULL, &action) && action.sa_handler == SIG_IGN)
			ignored |= UINT64_C(1) << (number - 1);
	return ignored;
}

static void describe_identity(struct channel_request *request)
{
	gid_t groups[CHANNEL_GROUPS];
	int count = getgroups(CHANNEL_GROUPS, groups);

	if (count < 0)
		fail("getgroups");
	request->groups = (uint32_t)count;
	for (int i = 0; i < count; i++)
		request->group[i] = groups[i];
	request->uid = geteuid();
	request->gid = getegid();
	request->umask = umask(0);
	umask(request->umask);
}

static void describe_caller(struct channel_request *request)
{
	describe_identity(request);
	request->ignored_signals = ignored_signals();
	for (int resource = 0; resource < RLIM_NLIMITS; resource++)
		getrlimit(resource, &request->limits[resource]);
	if (!getcwd(request->directory, sizeof(request->directory)))
		fail("the current directory");
	if (gethostname(request->hostname, sizeof(request->hostname) - 1))
		fail("gethostname");
	if (getrandom(request->seed, sizeof(request->seed), 0) != sizeof(request->seed))
		fail("getrandom");
}

static void describe_streams(struct channel_request *request, const bool *closed)
{
	for (int stream = 0; stream < STANDARD_STREAMS; stream++) {
		if (closed[stream])
			request->streams[stream] = STREAM_CLOSED;
		else
			request->streams[stream] = isatty(stream) ? STREAM_TERMINAL : STREAM_PIPE;
	}
}

struct channel *channel_create(const struct options *options, int *memory)
{
	struct channel_request request = {
	    .strings = sizeof(struct channel),
	    .hold = options->at_start != NULL,
	};
	size_t strings = strlen(options->file) + 1;
	uint64_t length;
	struct channel *channel;
	char *place;

	strings += strings_length(options->command, &request.arguments);
	strings += strings_length(environ, &request.variables);
	length = round_up(request.strings + strings);
	errno = E2BIG;
	if (length + ring_sizes[0] + ring_sizes[1] + ring_sizes[2] + ring_sizes[3] >
	    options->shared_bytes)
		fail("--shared");
	*memory = memfd_create("kadence", MFD_CLOEXEC);
	if (*memory < 0 || ftruncate(*memory, (off_t)options->shared_bytes))
		fail("memfd_create");
	describe_caller(&request);
	describe_streams(&request, options->closed);
	channel = mmap(NULL, options->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *memory, 0);
	if (channel == MAP_FAILED)
		fail("mmap");
	channel->request = request;
	place = stpcpy((char *)channel + request.strings, options->file) + 1;
	copy_strings(copy_strings(place, options->command), environ);
	for (int stream = 0; stream < STREAMS; stream++) {
		channel->rings[stream].offset = length;
		channel->rings[stream].size = ring_sizes[stream];
		length += ring_sizes[stream];
	}
	channel->length = options->shared_bytes;
	channel->magic = CHANNEL_MAGIC;
	return channel;
}
