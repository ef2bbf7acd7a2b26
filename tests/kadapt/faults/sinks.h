/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file to which a writer writes its records. It is read when the writer has ended. */
#ifndef SINKS_H
#define SINKS_H

struct sink {
	const char *path; /* only its writer may have it open, or there is no lease */
	int write_end;
	int read_end;
};

struct sink sink_at(const char *path);
/* For the writing process: creates the file anew. Returns 0, or -1 with errno. */
int sink_begin_writing(struct sink *sink);
/* For the reading process. Returns 0, or -1 with errno. */
int sink_open_written(struct sink *sink);
void sink_close(struct sink *sink);

#endif
