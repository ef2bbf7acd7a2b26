/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What records are written to, and where they come out. */
#ifndef SINKS_H
#define SINKS_H

enum sink_kind { SINK_FILE, SINK_PIPE, SINK_TCP, SINK_UNIX };

struct sink {
	enum sink_kind kind;
	const char *path; /* of a file; it is opened by its writer alone, else there is no lease */
	int write_end;
	int read_end; /* of a file: -1 */
};

const char *sink_name(enum sink_kind kind);

/* Both ends of a stream; of a file only its path. 0, or -1 with errno set. */
int sink_make(struct sink *sink, enum sink_kind kind, const char *path);
/* In the process that writes: let go of the other end; of a file, make it anew. */
int sink_begin_writing(struct sink *sink);
/* In the process that reads; a file is opened when the writer has ended: 0 or -1. */
void sink_begin_reading(struct sink *sink);
int sink_open_written(struct sink *sink);
void sink_close(struct sink *sink);

#endif
