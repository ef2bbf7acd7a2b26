/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file that records are written to, and where they are read when its writer has ended. */
#ifndef SINKS_H
#define SINKS_H

struct sink {
	const char *path; /* it is opened by its writer alone, else there is no lease */
	int write_end;
	int read_end;
};

struct sink sink_at(const char *path);
/* In the process that writes: the file is made anew. 0, or -1 with errno set. */
int sink_begin_writing(struct sink *sink);
/* In the process that reads. 0, or -1 with errno set. */
int sink_open_written(struct sink *sink);
void sink_close(struct sink *sink);

#endif
