// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two jobs that together need more memory than there is take turns, by SIGSTOP and SIGCONT.
 *
 *	gang WAY MEGABYTES PASSES QUANTUM_MS DISK
 *
 * Each job writes to all pages of its MEGABYTES, PASSES times, and computes after each write.
 * WAY is "serial" (one job after the other), or "gang" followed by "-out" (page-out of the job that
 * stops), "-in" (page-in of the job that continues), or both. Prints "NAME VALUE" lines, with what
 * DISK, where the swap space is, did.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE_BYTES 4096L
#define KIB_OF_PAGE 4
#define PRESENT (1ULL << 63)
#define MARGIN 8 /* a part of a job's memory that is freed beyond need, or reclaim goes on */
#define LOOPS_PER_PAGE 2500 /* of two instructions */
#define JOBS 2

static char *memory; /* at the same address in both jobs */
static long pages;
static int passes;
static pid_t jobs[JOBS];
static long major_faults;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static double now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* ---- a job ---------------------------------------------------------------------------------- */

static void work(void)
{
	for (long touch = 0, page = 0; touch < passes * pages; touch++) {
		memory[page * PAGE_BYTES] = (char)(touch + 1);
		for (int left = LOOPS_PER_PAGE; left; left--)
			__asm__ volatile("" : "+r"(left));
		page = (page + 1) % pages;
	}
}

static pid_t start_job(void)
{
	pid_t job = fork();

	if (job)
		return job;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	raise(SIGSTOP);
	work();
	_exit(0);
}

/* ---- what the kernel says ------------------------------------------------------------------- */

/* The number that follows the name in a file, or 0. */
static long number_in(const char *path, const char *name)
{
	char line[256];
	long found = 0;
	FILE *file = fopen(path, "r");

	if (!file)
		fail(path);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			found = atol(line + strlen(name));
	fclose(file);
	return found;
}

struct disk {
	long reads, read_sectors, writes, written_sectors;
};

static struct disk disk_now(const char *disk)
{
	struct disk now = {0};
	char line[256], name[32];
	FILE *file = fopen("/proc/diskstats", "r");

	if (!file)
		fail("/proc/diskstats");
	while (fgets(line, sizeof(line), file)) {
		struct disk each;

		if (sscanf(line, "%*d %*d %31s %ld %*d %ld %*d %ld %*d %ld", name, &each.reads,
			   &each.read_sectors, &each.writes, &each.written_sectors) == 5 &&
		    !strcmp(name, disk))
			now = each;
	}
	fclose(file);
	return now;
}

/* How long the processor has had nothing to do, or only a disk to wait for. */
static double idle_ms(void)
{
	long idle, waiting;
	FILE *file = fopen("/proc/stat", "r");

	if (!file || fscanf(file, "cpu %*d %*d %*d %ld %ld", &idle, &waiting) != 2)
		fail("/proc/stat");
	fclose(file);
	return (double)(idle + waiting) * 1000 / (double)sysconf(_SC_CLK_TCK);
}

/* ---- the policies --------------------------------------------------------------------------- */

static void advise(pid_t job, char *start, long count, int advice)
{
	struct iovec range = {start, (size_t)(count * PAGE_BYTES)};
	int handle = (int)syscall(SYS_pidfd_open, job, 0);

	if (handle < 0 || syscall(SYS_process_madvise, handle, &range, 1, advice, 0) < 0)
		fail("process_madvise");
	close(handle);
}

/* How many pages the job will need that are neither its own now nor free. */
static long missing_pages(pid_t job)
{
	char path[64];
	long resident;

	snprintf(path, sizeof(path), "/proc/%d/status", job);
	resident = number_in(path, "VmRSS:") / KIB_OF_PAGE;
	return pages - resident - number_in("/proc/meminfo", "MemAvailable:") / KIB_OF_PAGE;
}

/* Which pages of the job are in memory. The caller frees the answer. */
static uint64_t *page_map(pid_t job)
{
	size_t bytes = (size_t)pages * sizeof(uint64_t);
	uint64_t *map = malloc(bytes);
	char path[64];
	int file;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", job);
	file = open(path, O_RDONLY);
	if (!map || file < 0 ||
	    pread(file, map, bytes, (off_t)((uintptr_t)memory / PAGE_BYTES * sizeof(uint64_t))) !=
		(ssize_t)bytes)
		fail(path);
	close(file);
	return map;
}

static void page_out(pid_t job, long count)
{
	uint64_t *map = page_map(job);

	for (long page = 0; page < pages && count > 0;) {
		long end = page;

		while (end < pages && end - page < count && map[end] & PRESENT)
			end++;
		if (end > page)
			advise(job, memory + page * PAGE_BYTES, end - page, MADV_PAGEOUT);
		count -= end - page;
		page = end + 1;
	}
	free(map);
}

static void page_in(pid_t job)
{
	advise(job, memory, pages, MADV_WILLNEED);
}

/* ---- turns ---------------------------------------------------------------------------------- */

static void expect_ends(sigset_t *ends)
{
	struct sigaction silent = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};

	sigaction(SIGCHLD, &silent, NULL);
	sigemptyset(ends);
	sigaddset(ends, SIGCHLD);
	sigprocmask(SIG_BLOCK, ends, NULL);
}

/* Whether the job ended within these milliseconds; else it is stopped. */
static bool run(pid_t job, long quantum_ms, const sigset_t *ends)
{
	struct timespec quantum = {quantum_ms / 1000, quantum_ms % 1000 * 1000000};
	struct timespec none = {0};
	struct rusage used;
	int status;

	kill(job, SIGCONT);
	if (sigtimedwait(ends, NULL, &quantum) < 0)
		kill(job, SIGSTOP);
	if (wait4(job, &status, WUNTRACED, &used) != job)
		fail("wait4");
	if (WIFSTOPPED(status))
		return false;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail("a job");
	sigtimedwait(ends, NULL, &none); /* if it ended after its quantum */
	major_faults += used.ru_majflt;
	return true;
}

/* Runs both jobs to their ends and returns how often they changed. */
static int take_turns(const char *way, long quantum_ms)
{
	bool out = strstr(way, "-out"), in = strstr(way, "-in");
	bool ended[JOBS] = {false};
	int changes = 0, job = 0, left = JOBS;
	sigset_t ends;

	expect_ends(&ends);
	while (left) {
		int other = !job;

		ended[job] = run(jobs[job], quantum_ms, &ends);
		left -= ended[job];
		if (!left || ended[other])
			continue;
		if (out && !ended[job])
			page_out(jobs[job], missing_pages(jobs[other]) + pages / MARGIN);
		if (in)
			page_in(jobs[other]);
		job = other;
		changes++;
	}
	return changes;
}

static void start_jobs(void)
{
	memory = mmap(NULL, (size_t)(pages * PAGE_BYTES), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, (size_t)(pages * PAGE_BYTES), MADV_NOHUGEPAGE))
		fail("memory");
	for (int job = 0; job < JOBS; job++) {
		jobs[job] = start_job();
		waitpid(jobs[job], NULL, WUNTRACED);
	}
}

static void print_disk(struct disk before, struct disk after)
{
	printf("reads %ld\n", after.reads - before.reads);
	printf("writes %ld\n", after.writes - before.writes);
	printf("mib %.2f\n", (double)(after.read_sectors - before.read_sectors +
				      after.written_sectors - before.written_sectors) /
				 2048);
}

int main(int count, char **words)
{
	double begin_ms, begin_idle_ms, took_ms;
	struct disk before;
	long quantum_ms;
	int changes;

	if (count != 6)
		return 1;
	pages = atol(words[2]) * 1048576 / PAGE_BYTES;
	passes = atoi(words[3]);
	quantum_ms = strcmp(words[1], "serial") ? atol(words[4]) : 1000000000;
	start_jobs();
	before = disk_now(words[5]);
	begin_idle_ms = idle_ms();
	begin_ms = now_ms();
	changes = take_turns(words[1], quantum_ms);
	took_ms = now_ms() - begin_ms;
	printf("ms %.3f\n", took_ms);
	printf("busy_ms %.3f\n", took_ms - (idle_ms() - begin_idle_ms));
	printf("changes %d\n", changes);
	printf("faults %ld\n", major_faults);
	print_disk(before, disk_now(words[5]));
	return 0;
}
