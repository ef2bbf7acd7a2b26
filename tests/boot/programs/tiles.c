// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AMX: a process requests tiles and forks a child, which inherits the permission but no values.
 * Both multiply in tiles while timer signals interrupt them and they preempt each other. The
 * signal handler neither requests nor uses tiles. Exit status 0: all products are right.
 */
#define _GNU_SOURCE
#include <immintrin.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REQUEST = 0x1023, TILES = 18, ROWS = 16, BYTES = 64, ROUNDS = 20000 };

struct shape {
	uint8_t palette, start;
	uint8_t reserved[14];
	uint16_t bytes[16];
	uint8_t rows[16];
} __attribute__((packed, aligned(64)));

static volatile sig_atomic_t signals;

static void handle(int number)
{
	(void)number;
	signals = signals + 1;
}

__attribute__((target("amx-tile,amx-int8"))) static int multiply(int8_t left, int8_t right)
{
	struct shape shape = {.palette = 1};
	int8_t a[ROWS][BYTES], b[ROWS][BYTES];
	int32_t sum[ROWS][BYTES / 4] __attribute__((aligned(64)));

	for (int tile = 0; tile < 3; tile++) {
		shape.bytes[tile] = BYTES;
		shape.rows[tile] = ROWS;
	}
	memset(a, left, sizeof(a));
	memset(b, right, sizeof(b));
	_tile_loadconfig(&shape);
	_tile_zero(0);
	_tile_loadd(1, a, BYTES);
	_tile_loadd(2, b, BYTES);
	for (int round = 0; round < ROUNDS; round++)
		_tile_dpbssd(0, 1, 2);
	_tile_stored(0, sum, BYTES);
	_tile_release();
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < BYTES / 4; column++)
			if (sum[row][column] != ROUNDS * BYTES * left * right)
				return 1;
	return 0;
}

static int multiply_often(int8_t seed)
{
	for (int8_t i = 1; i < 100; i++)
		if (multiply(seed, (int8_t)(i % 5)))
			return 1;
	return 0;
}

int main(void)
{
	struct itimerval period = {{0, 2000}, {0, 2000}};
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
	int8_t seed = 3;
	int status;

	if (syscall(SYS_arch_prctl, REQUEST, TILES)) {
		perror("asking for tiles");
		return 2;
	}
	sigaction(SIGALRM, &action, NULL);
	if (!fork())
		seed = 5;
	setitimer(ITIMER_REAL, &period, NULL);
	if (multiply_often(seed))
		return 1;
	if (seed == 5)
		return 0;
	wait(&status);
	puts(signals && !status ? "multiplied" : "failed");
	return status ? 1 : 0;
}
