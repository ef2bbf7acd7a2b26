/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of kbbv know of one another; main.c says what the tool does. */

#ifndef KBBV_H
#define KBBV_H

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"
#include "pub_tool_tooliface.h"

/* ---- stream.c: the output ---------------------------------------------------------------- */

enum frame {
	FRAME_HEAD = 'H',
	FRAME_BLOCK = 'B',
	FRAME_ROW = 'R',
	FRAME_INTERVAL = 'I',
	FRAME_CALL_NAME = 'N',
	FRAME_FACTS = 'F',
	FRAME_SITE = 'S',
	FRAME_MAPPING = 'M',
	FRAME_GROWN = 'G',
	FRAME_TOUCHES = 'T',
	FRAME_UNMAPPED = 'D',
	FRAME_FORK = 'C',
	FRAME_PAST = 'P',
	FRAME_PEER = 'A',
	FRAME_EXEC = 'X',
	FRAME_END = 'E',
};

Bool stream_open(ULong interval);
Bool stream_is_open(void);
void stream_forked(void);
void stream_discard(void); /* and leave no trace of it */
void stream_begin(enum frame kind);
void stream_number(ULong value);
void stream_text(const HChar *text);
void stream_finish(void);
void stream_flush(void);
/* Gives the profile its name, now that there is something in it. */
void stream_publish(void);

/* ---- output.c: the file ------------------------------------------------------------------- */

Bool output_open(const HChar *path);
Bool output_is_open(void);
Bool output_is_published(void);
void output_leave(void);
void output_discard(void);
void output_write(const UChar *bytes, SizeT length);
void output_publish(void);

/* ---- process.c: which process this is ------------------------------------------------------ */

Bool process_option(const HChar *argument);
Bool process_initialise(void); /* False: no profile is named */
void process_tell_past(void);
void process_forked(void);
const HChar *process_path(void); /* of its profile */
UInt process_parent(void);	 /* 0: none that is recorded */
Bool process_is_only_forked(void);
void process_list(const HChar *published);
/* Tells the program that this process becomes what it must know. */
void process_pass_on(Bool has_profile, ULong instructions);

/* ---- exec.c: becoming another program -------------------------------------------------------- */

void exec_initialise(void);
Bool exec_will_succeed(UInt number, const UWord *arguments);
void exec_prepare(UInt number, const UWord *arguments);

/* ---- checksum.c, head.c ------------------------------------------------------------------- */

/* Of what has the checksum `before` (0: nothing) and these octets together. */
UInt checksum(UInt before, const void *data, SizeT length);
void head_write(ULong interval, UInt parent);

/* ---- sites.c: who asks for memory --------------------------------------------------------- */

/* Which of its arguments say how many bytes a function is to allocate. */
enum request { NO_REQUEST, FIRST_ARGUMENT, SECOND_ARGUMENT, THIRD_ARGUMENT, PRODUCT_OF_TWO };

enum { NO_SITE = 0 };

/* Bytes that the last allocating function to be entered was asked for; set by translated code. */
extern ULong kbbv_request;

enum request sites_request_at(Addr address);
/* The place in the program that the thread's system call comes from, told to the stream. */
UInt sites_of_call(ThreadId id);
/* Likewise, where no memory is asked for: the place nearest to the call that has a line. */
UInt sites_of_transfer(ThreadId id);

/* ---- residency.c: which pages are there ---------------------------------------------------- */

void residency_initialise(void);
void residency_leave_to_successor(void);
void residency_forked(void);
/* One byte for each page, 1 where it is present; False where the kernel does not tell. */
Bool residency_read(Addr start, SizeT pages, Bool of_file, UChar *present);

/* ---- mappings.c: the program's memory, and which pages of it were touched ------------------ */

enum memory {
	ANONYMOUS_MEMORY = 1,
	GROWN_MEMORY, /* a heap's: by brk, or made accessible out of what was reserved */
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
/* Address space that nothing can be in yet. */
void mappings_reserve(Addr start, Addr end, Bool for_stack);
/* What of the range was only reserved is memory from here on. */
void mappings_open(UInt thread, Addr start, Addr end, const struct birth *birth);
void mappings_move(UInt thread, Addr from, SizeT old_bytes, Addr to, SizeT new_bytes);
void mappings_remove(UInt thread, Addr start, Addr end);
void mappings_discard(Addr start, Addr end); /* the pages, not the mapping */
void mappings_look(Addr start, Addr end);
ULong mappings_cost_of_look(void);
void mappings_tell_touches(UInt thread);
void mappings_forked(UInt thread); /* in the child: tells of all there is */

/* ---- memory.c: what system calls do to it --------------------------------------------------- */

void memory_initialise(ULong interval);
void memory_set_interval(ULong interval);
void memory_before(ThreadId id, UInt number, const UWord *arguments);
void memory_after(ThreadId id, UInt number, const UWord *arguments, UWord result);
void memory_look(UInt thread);	   /* however long it takes */
void memory_row_ends(UInt thread); /* if it can be afforded */
void memory_forked(ThreadId id);   /* in the parent */
void memory_in_child(UInt thread);
ULong memory_rows_unseen(void);

/* ---- blocks.c: superblocks and their counters -------------------------------------------- */

/*
 * A block owns consecutive counters. A counter is bumped where a run of instructions begins
 * that is either executed whole or left by a fault, and stands for `weight` instructions. The
 * first counter of a block also tells how often the block was entered.
 */
struct block {
	struct block *next; /* these two are the head of a VgHashNode */
	UWord address;
	ULong fingerprint; /* of the guest's bytes: another code at this address is another block */
	UInt id;
	UInt instructions;
	UInt bytes;
	UChar *lengths; /* of the instructions */
	UInt first_counter;
	UInt counters;
	UInt runs; /* without a repeated string instruction's counter, which is the last */
	enum request request;
	UInt waits;
};

void blocks_initialise(void);
/* What of `wanted` is found by: address, fingerprint, numbers; the rest is for a new one. */
struct block *blocks_find_or_add(const struct block *wanted, const UInt *weights);
/* How many instructions were counted that the fault at the address keeps from completing. */
UInt blocks_missing_at(const struct block *block, Addr address);
UInt blocks_count(void);
const struct block *blocks_at(UInt id);
UInt counters_count(void);
UInt counter_weight(UInt counter);
UInt counter_block(UInt counter); /* whose it is */
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
	ULong *hits; /* per counter, what was harvested */
	UInt capacity;
	UInt *touched; /* counters that have hits */
	UInt touched_used;
	Bool sorted;
	struct missing *missing;
	UInt missing_used;
	UInt missing_capacity;
};

/* Moves all counters into the row, in which there is room, and returns their instructions. */
ULong counters_harvest(struct row *row); /* in blocks.c */
ULong row_harvest(struct row *row);
void row_write_blocks(struct row *row);
/* Of a run that a fault at the address cuts off: how many instructions did not complete. */
ULong row_take_back(struct row *row, Addr address);
void row_clear(struct row *row);
void row_free(struct row *row);

/* ---- instrument.c ------------------------------------------------------------------------- */

IRSB *kbbv_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		      const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
		      IRType host_word);

/* ---- waits.c: which blocks wait for another thread ----------------------------------------- */

enum waits { WAITS_PAUSES = 1, WAITS_UNCHANGING = 2 };

UInt waits_of(const IRSB *block, Addr address); /* any of them */

/* ---- translate.c: what VEX is asked for ----------------------------------------------------- */

/* The block that is being translated shall bump the counter where it is entered. */
void translate_count_entries(ULong *counter);

/* ---- threads.c: whose instructions they are, and the rows of the profile ----------------- */

enum descriptor { NO_DESCRIPTOR, FILE_DESCRIPTOR, SOCKET, PIPE, DEVICE, OTHER_DESCRIPTOR };

enum access { NO_ACCESS, SEQUENTIAL, RANDOM };

/* A system call that is under way. */
struct call {
	UInt number; /* or NO_CALL */
	enum descriptor descriptor;
	UInt site;
	UInt peer;
	ULong bytes;
	Bool transfers; /* bytes, were they none */
	enum access access;
	ULong instructions; /* that its thread had run */
	ULong nanoseconds;  /* when it began */
};

enum { NO_CALL = ~0U };

struct thread {
	ThreadId id;
	Bool started; /* so that it has a budget */
	UInt serial;  /* 1 for the first; never used again, unlike a ThreadId */
	struct row row;
	struct _VgHashTable *calls; /* tallies, or NULL */
	UInt row_calls;		    /* how many of them the row has */
	struct call call;
	ULong instructions; /* that it has run, as far as harvested */
	ULong granted; /* instructions that it was given to run, what is left of them included */
};

/*
 * The instructions that a thread may still execute in its row are in its first shadow state, of
 * which Valgrind makes no use for itself: at this offset, 64 bits.
 */
enum { BUDGET_SHADOW = 1, BUDGET_PLACE = 0 };

/* The interval is doubled where a thread would have more than `most_rows` (even; 0: never). */
void threads_initialise(ULong interval, ULong most_rows);
void threads_interval_end(ULong counter); /* called from translated code */
struct thread *threads_of(ThreadId id);
struct thread *threads_known(ThreadId id); /* NULL where there is none */
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

/* Instructions that it has run. */
ULong threads_clock(const struct thread *thread);

/* ---- calls.c: tallies of a thread's system calls -------------------------------------------- */

/* Of sizes: 0, 1, 2 to 3, 4 to 7 and so on; the last has all larger ones. */
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
	ULong gaps; /* between two calls, and what they come to, from begin to begin */
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

enum descriptor descriptors_kind(UWord descriptor); /* NO_DESCRIPTOR: there is none */
enum access descriptors_moved(UInt number, const UWord *arguments, ULong bytes);
void descriptors_after(UInt number, const UWord *arguments, UWord result);
UInt descriptors_peer(UWord descriptor);
UInt peers_of_address(const UChar *address, UInt length);

/* ---- systemcalls.c ------------------------------------------------------------------------ */

void systemcalls_before(ThreadId id, UInt number, UWord *arguments, UInt count);
void systemcalls_after(ThreadId id, UInt number, UWord *arguments, UInt count, SysRes result);
void systemcalls_name(UInt number);
void systemcalls_in_child(void);
void systemcalls_finish(void); /* counts those that are under way */
/* False where the process ends otherwise than by its own call. */
Bool systemcalls_exit_status(ULong *status);

/* ---- facts.c: what system calls tell about the run as a whole ------------------------------ */

void facts_note(UInt number, const UWord *arguments); /* of a call that did not fail */
void facts_forked(void);			      /* in the parent */
void facts_in_child(void);
void facts_write(void);

#endif
