// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records that are read without a call: where the kernel believes the position to
 * be tells whether they were. The file's records are their own numbers.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "libkadapt.h"
#include "numbers.h"

static enum outcome test_without_calls(void)
{
	int file = numbers_open(NUMBERS);

	CHECK(numbers_read(file, 0, NUMBERS / 2) == NUMBERS / 2);
	CHECK(kernels_position(file) < NUMBERS / 2 * NUMBER_BYTES);
	CHECK(numbers_read(file, NUMBERS / 2, NUMBERS) == NUMBERS - NUMBERS / 2);
	CHECK(kadapt_read(file, (char[1]){0}, 1) == 0);
	CHECK(lseek(file, 0, SEEK_CUR) == NUMBERS * NUMBER_BYTES);
	close(file);
	return PASSED;
}

static enum outcome test_sizes(void)
{
	static char expected[70000], record[70000];
	int file = numbers_open(NUMBERS);
	size_t at = 0;

	CHECK(pread(file, expected, sizeof(expected), 0) == sizeof(expected));
	for (size_t size = 1; at + size <= sizeof(expected); at += size, size += size / 40 + 1) {
		CHECK(kadapt_read(file, record, size) == (ssize_t)size);
		CHECK(!memcmp(record, expected + at, size));
	}
	CHECK(lseek(file, 0, SEEK_CUR) == (off_t)at);
	close(file);
	return PASSED;
}

/* A stream of the C library's has it: its reads are seen by nobody. */
static enum outcome test_stream_beside(void)
{
	int file = numbers_open(NUMBERS);
	FILE *stream = fopen(numbers_path(), "r");

	close(file);
	file = fileno(stream);
	CHECK(numbers_read(file, 0, BURST) == BURST);
	CHECK(kernels_position(file) == BURST * NUMBER_BYTES);
	fclose(stream);
	file = numbers_open(NUMBERS);
	CHECK(numbers_read(file, 0, BURST) == BURST);
	CHECK(kernels_position(file) < BURST * NUMBER_BYTES);
	close(file);
	return PASSED;
}

/* Another process writes, in place and behind the end, and cuts. */
static int changed_by_child(off_t at, uint64_t number, off_t size)
{
	pid_t child = fork();

	if (child == 0) {
		int file = open(numbers_path(), O_WRONLY);

		_exit(pwrite(file, &number, sizeof(number), at) != NUMBER_BYTES ||
		      (size && ftruncate(file, size)));
	}
	return child_did(child);
}

static enum outcome test_writer(void)
{
	int file = numbers_open(100);
	uint64_t number;

	CHECK(numbers_read(file, 0, BURST) == BURST);
	CHECK(changed_by_child(BURST * NUMBER_BYTES, 77, 0));
	CHECK(kadapt_read(file, &number, sizeof(number)) == NUMBER_BYTES && number == 77);
	CHECK(numbers_read(file, BURST + 1, 100) == 99 - BURST);
	CHECK(kadapt_read(file, &number, sizeof(number)) == 0);
	CHECK(changed_by_child(100 * NUMBER_BYTES, 100, 0));
	CHECK(kadapt_read(file, &number, sizeof(number)) == NUMBER_BYTES && number == 100);
	CHECK(lseek(file, 0, SEEK_SET) == 0 && numbers_read(file, 0, BURST) == BURST);
	CHECK(changed_by_child(0, 0, BURST * NUMBER_BYTES));
	CHECK(kadapt_read(file, &number, sizeof(number)) == 0);
	close(file);
	return PASSED;
}

/* The program itself has it open for writing: no lease, and so calls. */
static enum outcome test_own_writer(void)
{
	int file = numbers_open(100);
	int writer = open(numbers_path(), O_WRONLY);
	uint64_t number = 77;

	CHECK(numbers_read(file, 0, BURST) == BURST);
	CHECK(kernels_position(file) == BURST * NUMBER_BYTES);
	CHECK(pwrite(writer, &number, sizeof(number), BURST * NUMBER_BYTES) == NUMBER_BYTES);
	CHECK(kadapt_read(file, &number, sizeof(number)) == NUMBER_BYTES && number == 77);
	close(writer);
	close(file);
	return PASSED;
}

/* The number is another file's, with another position. */
static enum outcome test_number_again(void)
{
	int file = numbers_open(NUMBERS), other = numbers_open(NUMBERS);

	CHECK(numbers_read(file, 0, BURST) == BURST);
	CHECK(lseek(other, 50 * NUMBER_BYTES, SEEK_SET) == 50 * NUMBER_BYTES);
	CHECK(dup2(other, file) == file);
	CHECK(numbers_read(file, 50, 80) == 30);
	close(file);
	close(other);
	file = numbers_open(NUMBERS);
	CHECK(numbers_read(file, 0, BURST) == BURST);
	close(file);
	return PASSED;
}

/* More files than there are windows. */
static enum outcome test_many(void)
{
	int files[40];

	for (int i = 0; i < 40; i++)
		files[i] = numbers_open(NUMBERS);
	for (int first = 0; first < 4 * BURST; first += BURST)
		for (int i = 0; i < 40; i++)
			CHECK_FOR(numbers_read(files[i], first, first + BURST) == BURST, i);
	for (int i = 0; i < 40; i++)
		close(files[i]);
	return PASSED;
}

/* Whoever reads gets a record that nobody else got. */
static struct {
	int file;
	_Atomic int count[NUMBERS];
} shared;

static void *read_some(void *argument)
{
	uint64_t number;

	while (kadapt_read(shared.file, &number, sizeof(number)) == NUMBER_BYTES)
		if (number < NUMBERS)
			shared.count[number]++;
	return argument;
}

static enum outcome each_was_read_once(void)
{
	for (size_t i = 0; i < NUMBERS; i++)
		CHECK_FOR(shared.count[i] == 1, i);
	return PASSED;
}

static enum outcome test_threads(void)
{
	pthread_t threads[4];

	memset(&shared, 0, sizeof(shared));
	shared.file = numbers_open(NUMBERS);
	for (size_t i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, read_some, NULL) == 0);
	for (size_t i = 0; i < 4; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	close(shared.file);
	return each_was_read_once();
}

const struct test_case read_cases[] = {
    {"read_without_calls", "records are copied, to the file's end", test_without_calls},
    {"read_sizes", "records of all sizes", test_sizes},
    {"read_stream_beside", "a file that a stream has", test_stream_beside},
    {"read_writer", "others write and cut the file", test_writer},
    {"read_own_writer", "the program writes to it itself", test_own_writer},
    {"read_number_again", "the number becomes another file's", test_number_again},
    {"read_many", "more files than windows", test_many},
    {"read_threads", "threads that read one file", test_threads},
    {0},
};
