/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interfaces between the parts of kbbv; main.c describes the tool. */

#ifndef KBBV_H
#define KBBV_H

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"
#include "pub_tool_tooliface.h"

#include "format/stream_format.h"

/* ---- stream.c: the output ---------------------------------------------------------------- */

Bool stream_open(ULong interval);
Bool stream_is_open(void);
void stream_forked(void);
void stream_discard(void); /* deletes the file, too */
void stream_begin(enum frame kind);
void stream_number(ULong value);
void stream_text(const HChar *text);
void stream_finish(void);
void stream_flush(void);
/* Flushes the stream and gives the profile its final name. */
void stream_publish(void);

/* ---- output.c: the file ------------------------------------------------------------------- */

Bool output_open(const HChar *path);
Bool output_is_open(void);
Bool output_is_published(void);
void output_leave(void);
void output_discard(void);
void output_write(const UChar *bytes, SizeT length);
void output_publish(void);

/* ---- process.c: the process's identity --------------------------------------------------- */

Bool process_option(const HChar *argument);
Bool process_initialise(void); /* False: no option names a profile */
void process_tell_past(void);
void process_forked(void);
const HChar *process_path(void); /* of its profile */
UInt process_parent(void);	 /* 0: no recorded parent */
Bool process_is_only_forked(void);
void process_list(const HChar *published);
/* Adds options that tell the program that replaces this one about its process. */
void process_pass_on(Bool has_profile, ULong instructions);

/* ---- exec.c: becoming another program -------------------------------------------------------- */

void exec_initialise(void);
Bool exec_will_succeed(UInt number, const UWord *arguments);
void exec_prepare(UInt number, const UWord *arguments);

/* ---- checksum.c, head.c ------------------------------------------------------------------- */

/* The checksum of earlier data, whose checksum is `before` (0: no data), and this data. */
UInt checksum(UInt before, const void *data, SizeT length);
void head_write(ULong interval, UInt parent);

/* ---- sites.c: which places make calls ---------------------------------------------------- */

/* Which arguments of an allocating function give the number of bytes. */
enum request { NO_REQUEST, FIRST_ARGUMENT, SECOND_ARGUMENT, THIRD_ARGUMENT, PRODUCT_OF_TWO };

enum { NO_SITE = 0 };

/* Bytes that the last call of an allocating function asked for; translated code sets it. */
extern ULong kbbv_request;

enum request sites_request_at(Addr address);
/* The site of the thread's system call. A new site is written to the stream. */
UInt sites_of_call(ThreadId id);
/* Likewise, for calls that do not ask for memory: the place nearest the call with a line. */
UInt sites_of_transfer(ThreadId id);

/* ---- residency.c: which pages are present ------------------------------------------------ */

void residency_initialise(void);
void residency_leave_to_successor(void);
void residency_forked(void);
/* One byte for each page, 1 if it is present; False if the kernel does not say. */
Bool residency_read(Addr start, SizeT pages, Bool of_file, UChar *present);

/* ---- mappings.c: the program's memory, and which pages of it were touched ------------------ */

enum memory {
	ANONYMOUS_MEMORY = 1,
	GROWN_MEMORY, /* a heap's: by brk, or reserved memory that was made accessible */
	MAIN_STACK,
	THREAD_STACK,
	PRIVATE_FILE,
	SHARED_FILE,
	SHARED_MEMORY,
	PROGRAM_DATA,
};

struct birth {
	enum memory kind;
	Bool unreserved; /* MAP_NORESERVE */
	UInt site;
	ULong request;
};

struct mapping;

struct mapping *mappings_add(UInt thread, Addr start, Addr end, const struct birth *birth);
void mappings_extend(UInt thread, struct mapping *mapping, Addr start, Addr end);
/* Address space that is reserved: the program cannot access it yet. */
void mappings_reserve(Addr start, Addr end, Bool for_stack);
/* The reserved parts of the range become memory. */
void mappings_open(UInt thread, Addr start, Addr end, const struct birth *birth);
void mappings_move(UInt thread, Addr from, SizeT old_bytes, Addr to, SizeT new_bytes);
void mappings_remove(UInt thread, Addr start, Addr end);
void mappings_discard(Addr start, Addr end); /* the pages, not the mapping */
void mappings_look(Addr start, Addr end);
ULong mappings_cost_of_look(void);
void mappings_tell_touches(UInt thread);
void mappings_forked(UInt thread); /* in the child: writes all mappings again */

/* ---- memory.c: what system calls do to memory -------------------------------------------- */

void memory_initialise(ULong interval);
void memory_set_interval(ULong interval);
void memory_before(ThreadId id, UInt number, const UWord *arguments);
void memory_after(ThreadId id, UInt number, const UWord *arguments, UWord result);
void memory_look(UInt thread);	   /* at any cost */
void memory_row_ends(UInt thread); /* looks if the rows so far earned the cost */
void memory_forked(ThreadId id);   /* in the parent */
void memory_in_child(UInt thread);
ULong memory_rows_unseen(void);

/* ---- blocks.c: superblocks and their counters -------------------------------------------- */

/*
 * A block owns consecutive counters. Each counts a run of `weight` instructions, which executes
 * completely unless a fault ends it. Translated code increments the counter where the run
 * begins. The first counter of a block also counts the entries into the block.
 */
struct block {
	struct block *next; /* these two are the head of a VgHashNode */
	UWord address;
	ULong fingerprint; /* of the guest's bytes: other code at this address is another block */
	UInt id;
	UInt instructions;
	UInt bytes;
	UChar *lengths; /* of the instructions */
	UInt first_counter;
	UInt counters;
	UInt runs; /* without a repeated string instruction's counter (the last) */
	enum request request;
	UInt waits;
};

void blocks_initialise(void);
/* Finds a block by address, fingerprint and numbers; a new block takes all of `wanted`. */
struct block *blocks_find_or_add(const struct block *wanted, const UInt *weights);
/* How many counted instructions did not complete because of the fault at the address. */
UInt blocks_missing_at(const struct block *block, Addr address);
UInt blocks_count(void);
const struct block *blocks_at(UInt id);
UInt counters_count(void);
UInt counter_weight(UInt counter);
UInt counter_block(UInt counter); /* the block's id */
ULong *counter_place(UInt counter);

/* ---- rows.c: what a thread ran since its last row ------------------------------------------ */

/* Instructions that were counted and did not complete. */
struct missing {
	UInt block;
	ULong instructions;
};

struct row {
	ULong start; /* instructions all threads had run when the row began */
	ULong instructions;
	ULong *hits; /* per counter, the harvested count */
	UInt capacity;
	UInt *touched; /* counters that have hits */
	UInt touched_used;
	Bool sorted;
	struct missing *missing;
	UInt missing_used;
	UInt missing_capacity;
};

/* Moves all counters into the row, which must have room. Returns their instructions. */
ULong counters_harvest(struct row *row); /* in blocks.c */
ULong row_harvest(struct row *row);
void row_write_blocks(struct row *row);
/* Subtracts and returns the instructions that a fault at the address left incomplete. */
ULong row_take_back(struct row *row, Addr address);
void row_clear(struct row *row);
void row_free(struct row *row);

/* ---- instrument.c ------------------------------------------------------------------------- */

IRSB *kbbv_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		      const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
		      IRType host_word);

/* ---- waits.c: which blocks wait for another thread ----------------------------------------- */

enum waits { WAITS_PAUSES = 1, WAITS_UNCHANGING = 2 };

UInt waits_of(const IRSB *block, Addr address); /* any of these bits */

/* ---- translate.c: requests to VEX -------------------------------------------------------- */

/* Makes the block that is being translated increment the counter at its entry. */
void translate_count_entries(ULong *counter);

/* ---- threads.c: the instructions of each thread, and the rows ---------------------------- */

enum descriptor { NO_DESCRIPTOR, FILE_DESCRIPTOR, SOCKET, PIPE, DEVICE, OTHER_DESCRIPTOR };

enum access { NO_ACCESS, SEQUENTIAL, RANDOM };

/* A system call that is under way. */
struct call {
	UInt number; /* or NO_CALL */
	enum descriptor descriptor;
	UInt site;
	UInt peer;
	ULong bytes;
	Bool transfers; /* bytes, possibly 0 */
	enum access access;
	ULong instructions; /* that its thread had run when the call began */
	ULong nanoseconds;  /* when the call began */
};

enum { NO_CALL = ~0U };

struct thread {
	ThreadId id;
	Bool started; /* its budget is set */
	UInt serial;  /* 1 for the first thread; never reused, unlike a ThreadId */
	struct row row;
	struct _VgHashTable *calls; /* tallies, or NULL */
	UInt row_calls;		    /* how many tallies the row has */
	struct call call;
	ULong instructions; /* that it has run, as far as harvested */
	ULong granted; /* instructions granted to the thread, including the budget that is left */
};

/*
 * A thread's budget, the number of instructions that it may still execute in its row, is 64 bits
 * at this offset of its first shadow state. Valgrind itself does not use that state.
 */
enum { BUDGET_SHADOW = 1, BUDGET_PLACE = 0 };

/* The interval doubles if a thread would have more than `most_rows` rows (even; 0: never). */
void threads_initialise(ULong interval, ULong most_rows);
void threads_interval_end(ULong counter); /* called from translated code */
struct thread *threads_of(ThreadId id);
struct thread *threads_known(ThreadId id); /* NULL if unknown */
void threads_created(ThreadId parent, ThreadId id);
void threads_start_client_code(ThreadId id, ULong blocks_dispatched);
void threads_stop_client_code(ThreadId id, ULong blocks_dispatched);
void threads_deliver_signal(ThreadId id, Int number, Bool alternative_stack);
void threads_return_from_signal(ThreadId id, Int number);
void threads_exit(ThreadId id);
void threads_finish_rows(void);
ULong threads_instructions(void); /* of all threads */
void threads_forked(ThreadId id); /* in the child */
UInt threads_ever(void);

/* The number of instructions that the thread has run. */
ULong threads_clock(const struct thread *thread);

/* ---- calls.c: tallies of a thread's system calls -------------------------------------------- */

/* Classes of sizes: 0, 1, 2 to 3, 4 to 7 and so on; the last has all larger sizes. */
enum { SIZES = 34 };

struct calls {
	struct calls *next; /* these two are the head of a VgHashNode */
	UWord key;
	UInt number;
	enum descriptor descriptor;
	UInt site;
	UInt peer;
	ULong count;
	ULong bytes;
	ULong sequential;
	ULong random;
	ULong gaps; /* pairs of consecutive calls; the next two sum begin to begin */
	ULong instructions;
	ULong nanoseconds;
	UInt sizes[SIZES];
	Bool called;
	ULong last_instructions;
	ULong last_nanoseconds;
};

void calls_begin(struct thread *thread, struct call *call);
void calls_tally(struct thread *thread, const struct call *call);
void calls_name(const struct thread *thread);
void calls_write(const struct thread *thread);
void calls_clear(struct thread *thread);
void calls_forget(struct thread *thread);

/* ---- descriptors.c, peers.c ----------------------------------------------------------------- */

enum { NO_PEER = 0 };

enum descriptor descriptors_kind(UWord descriptor); /* NO_DESCRIPTOR: not open */
enum access descriptors_moved(UInt number, const UWord *arguments, ULong bytes);
void descriptors_after(UInt number, const UWord *arguments, UWord result);
UInt descriptors_peer(UWord descriptor);
UInt peers_of_address(const UChar *address, UInt length);

/* ---- systemcalls.c ------------------------------------------------------------------------ */

void systemcalls_before(ThreadId id, UInt number, UWord *arguments, UInt count);
void systemcalls_after(ThreadId id, UInt number, UWord *arguments, UInt count, SysRes result);
void systemcalls_name(UInt number);
void systemcalls_in_child(void);
void systemcalls_finish(void); /* counts the calls that are under way */
/* False if the process did not end by its own call. */
Bool systemcalls_exit_status(ULong *status);

/* ---- facts.c: facts about the run as a whole, from system calls -------------------------- */

void facts_note(UInt number, const UWord *arguments); /* after a call that did not fail */
void facts_forked(void);			      /* in the parent */
void facts_in_child(void);
void facts_write(void);

#endif
