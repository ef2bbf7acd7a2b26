/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flushes WAYS: writes records to a file in each way that WAYS names. f, u and l write 20,000
 * records: f to a stream that is flushed after each record, u to an unbuffered stream, l to a
 * line-buffered stream. d, b, s and r write 200,000 records: d by write(2), b to a buffered stream,
 * s to a stream with a small buffer, r to a stream that is flushed after some 16 KiB.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RECORDS = 20000, SIZE = 24, SMALL_BUFFER = 1024, RARELY = 680 };

static const char record[SIZE + 1] = "record of 24 characters\n";

#define WAY __attribute__((noinline)) static void

WAY put(FILE *file)
{
	if (fwrite(record, 1, SIZE, file) != SIZE)
		exit(1);
}

WAY flushed(FILE *file)
{
	for (int i = 0; i < RECORDS; i++) {
		fputs(record, file);
		fflush(file);
	}
}

WAY unbuffered(FILE *file)
{
	setvbuf(file, NULL, _IONBF, 0);
	for (int i = 0; i < RECORDS; i++)
		put(file);
}

WAY by_line(FILE *file)
{
	setvbuf(file, NULL, _IOLBF, BUFSIZ);
	for (int i = 0; i < RECORDS; i++)
		fputs(record, file);
}

WAY direct(FILE *file)
{
	for (int i = 0; i < 10 * RECORDS; i++)
		if (write(fileno(file), record, SIZE) != SIZE)
			exit(1);
}

WAY buffered(FILE *file)
{
	for (int i = 0; i < 10 * RECORDS; i++)
		fputs(record, file);
}

WAY in_small_buffer(FILE *file)
{
	static char buffer[SMALL_BUFFER];

	setvbuf(file, buffer, _IOFBF, sizeof(buffer));
	for (int i = 0; i < 10 * RECORDS; i++)
		fputs(record, file);
}

WAY rarely_flushed(FILE *file)
{
	for (int i = 1; i <= 10 * RECORDS; i++) {
		fputs(record, file);
		if (i % RARELY == 0)
			fflush(file);
	}
}

int main(int count, char **arguments)
{
	for (const char *way = count > 1 ? arguments[1] : ""; *way; way++) {
		FILE *file = fopen("records", "w");

		if (!file)
			return 1;
		switch (*way) {
		case 'f':
			flushed(file);
			break;
		case 'u':
			unbuffered(file);
			break;
		case 'l':
			by_line(file);
			break;
		case 'd':
			direct(file);
			break;
		case 'b':
			buffered(file);
			break;
		case 's':
			in_small_buffer(file);
			break;
		case 'r':
			rarely_flushed(file);
			break;
		}
		fclose(file);
	}
	return 0;
}
