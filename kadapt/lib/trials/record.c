// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <elf.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <stdio.h>
#include <time.h>

#include "libkadapt.h"
#include "trials/kind.h"
#include "trials/line.h"
#include "trials/record.h"

#define BUILD_ID_BYTES 32

static char file[PATH_MAX]; /* an absolute path; empty: nothing is written */

static const char *const policies[] = {"quantum", "rings", "batches", "memory"};
static const char *const arm_states[] = {"open", "helps", "hurts", "dropped", "enough", "idle"};
static const char *const trial_states[] = {"warm-up", "going", "ended",
					   "unlike",  "short", "follows"};
static const char *const clocks[] = {"wall", "task"};
static const char *const measures[] = {"visits", "firings", "allocated"};

/* The build-id among the notes of a segment, as hexadecimal digits. */
static int print_build_id(const char *notes, size_t bytes, char *text)
{
	while (bytes >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)notes;
		size_t name = (note->n_namesz + 3U) & ~3U, content = (note->n_descsz + 3U) & ~3U;
		const unsigned char *id = (const unsigned char *)notes + sizeof(*note) + name;

		if (sizeof(*note) + name + content > bytes)
			return 0;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_descsz <= BUILD_ID_BYTES &&
		    note->n_namesz == 4 && !memcmp(notes + sizeof(*note), "GNU", 4)) {
			for (unsigned int i = 0; i < note->n_descsz; i++)
				snprintf(text + 2UL * i, 3, "%02x", id[i]);
			return 1;
		}
		notes += sizeof(*note) + name + content;
		bytes -= sizeof(*note) + name + content;
	}
	return 0;
}

/* The program's own headers: where they are tells how far the program was moved. */
static void find_build_id(char text[2 * BUILD_ID_BYTES + 1])
{
	const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	unsigned long count = getauxval(AT_PHNUM);
	uintptr_t moved = 0;

	text[0] = '\0';
	for (unsigned long i = 0; headers && i < count; i++)
		if (headers[i].p_type == PT_PHDR)
			moved = (uintptr_t)headers - headers[i].p_vaddr;
	for (unsigned long i = 0; headers && i < count; i++)
		if (headers[i].p_type == PT_NOTE &&
		    print_build_id((const char *)(moved + headers[i].p_vaddr), headers[i].p_memsz,
				   text))
			return;
}

/* A relative path would move with the program's working directory. */
static int find_file(void)
{
	const char *name = secure_getenv("KADAPT_TRIALS_RECORD");

	if (!name || name[0] != '/' || strlen(name) >= sizeof(file))
		return 0;
	strcpy(file, name);
	return 1;
}

void kadapt_record_begin(uint64_t seed, double share)
{
	struct kadapt_machine_kind kind;
	struct kadapt_line line;
	char build_id[2 * BUILD_ID_BYTES + 1];

	if (!find_file())
		return;
	find_build_id(build_id);
	kadapt_kind_look(&kind);
	kadapt_line_begin(&line);
	kadapt_line_add(&line,
			", \"schema\": \"kadence.trials\", \"version\": 1, \"program\": \"%s\", "
			"\"plan\": \"%016" PRIx64 "\", \"machine\": {\"processor\": \"%s\", "
			"\"kernel\": \"%s\", \"memory_bytes\": %" PRIu64 ", \"processors\": %ld}, "
			"\"seed\": \"%016" PRIx64 "\", \"budget\": ",
			build_id, (uint64_t)kadapt_plan.id, kind.processor, kind.kernel,
			kind.memory_bytes, kind.processors, seed);
	kadapt_line_number(&line, share);
	kadapt_line_add(&line, ", \"started\": %lld", (long long)time(NULL));
	kadapt_line_write(&line, file);
}

void kadapt_record_phase(uint32_t phase, const struct kadapt_trial *trial)
{
	struct kadapt_line line;

	if (!file[0])
		return;
	kadapt_line_begin(&line);
	kadapt_line_add(
	    &line, ", \"phase\": {\"phase\": %" PRIu32 ", \"state\": \"%s\", \"spread\": ", phase,
	    trial_states[trial->state]);
	kadapt_line_number(&line, trial->spread);
	kadapt_line_add(&line,
			", \"mean_ns\": %" PRIu64
			", \"clock\": \"%s\", \"measure\": \"%s\", \"washout\": %u, "
			"\"measured\": %u}",
			(uint64_t)(trial->mean_ns / trial->together), clocks[trial->clock],
			measures[trial->measure], trial->washout * trial->together,
			trial->measured * trial->together);
	kadapt_line_write(&line, file);
}

static void add_pair(struct kadapt_line *line, const char *name, uint64_t plain, uint64_t level)
{
	kadapt_line_add(line, ", \"%s\": [%" PRIu64 ", %" PRIu64 "]", name, plain, level);
}

void kadapt_record_block(uint32_t phase, unsigned int policy, const struct kadapt_trial *trial,
			 const struct kadapt_block_use *use)
{
	const struct kadapt_arm *arm = &trial->arm[trial->tried];
	const struct kadapt_block *block = &arm->evidence.block[arm->evidence.blocks - 1];
	const struct kadapt_used *plain = &use->used[0], *level = &use->used[1];
	struct kadapt_line line;

	if (!file[0])
		return;
	kadapt_line_begin(&line);
	kadapt_line_add(
	    &line,
	    ", \"block\": {\"phase\": %" PRIu32
	    ", \"policy\": \"%s\", \"level\": %u, \"level_first\": %s, \"difference\": ",
	    phase, policies[policy], arm->level, trial->is_level_first ? "true" : "false");
	kadapt_line_number(&line, block->difference);
	kadapt_line_add(&line, ", \"bound\": ");
	kadapt_line_number(&line, block->bound);
	add_pair(&line, "time_ns", (uint64_t)use->sum[0].time_ns, (uint64_t)use->sum[1].time_ns);
	add_pair(&line, "work", (uint64_t)use->sum[0].work, (uint64_t)use->sum[1].work);
	add_pair(&line, "task_ns", plain->task_ns, level->task_ns);
	add_pair(&line, "system_ns", plain->system_ns, level->system_ns);
	add_pair(&line, "faults", plain->faults, level->faults);
	add_pair(&line, "involuntary_switches", plain->involuntary_switches,
		 level->involuntary_switches);
	kadapt_line_add(&line, "}");
	kadapt_line_write(&line, file);
}

void kadapt_record_decision(uint32_t phase, unsigned int policy, const struct kadapt_trial *trial)
{
	const struct kadapt_arm *arm = &trial->arm[trial->tried];
	struct kadapt_interval interval;
	struct kadapt_line line;

	if (!file[0])
		return;
	interval = kadapt_evidence_interval(&arm->evidence);
	kadapt_line_begin(&line);
	kadapt_line_add(
	    &line,
	    ", \"decision\": {\"phase\": %" PRIu32
	    ", \"policy\": \"%s\", \"level\": %u, \"state\": \"%s\", \"blocks\": %" PRIu32
	    ", \"visits\": %" PRIu32 ", \"effect\": ",
	    phase, policies[policy], arm->level, arm_states[arm->state], arm->evidence.blocks,
	    arm->visits * trial->together);
	kadapt_line_number(&line, arm->evidence.effect);
	kadapt_line_add(&line, ", \"low\": ");
	kadapt_line_number(&line, interval.low);
	kadapt_line_add(&line, ", \"high\": ");
	kadapt_line_number(&line, interval.high);
	kadapt_line_add(&line, "}");
	kadapt_line_write(&line, file);
}

void kadapt_record_end(const struct kadapt_budget *budget, uint64_t boundaries)
{
	struct kadapt_line line;

	if (!file[0])
		return;
	kadapt_line_begin(&line);
	kadapt_line_add(&line,
			", \"end\": {\"elapsed_ns\": %" PRIu64 ", \"spent_ns\": %" PRIu64
			", \"boundaries\": %" PRIu64 "}",
			(uint64_t)budget->elapsed_ns, (uint64_t)budget->spent_ns, boundaries);
	kadapt_line_write(&line, file);
}

void kadapt_record_stop(void)
{
	file[0] = '\0';
}
