/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A team of OpenMP threads. */
#include <stdio.h>

__attribute__((noinline)) static double work(int number)
{
	double sum = 0;

	for (int turn = 1; turn <= number % 8 + 1; turn++)
		sum += 1.0 / turn;
	return sum;
}

int main(void)
{
	double sum = 0;

#pragma omp parallel for reduction(+ : sum) num_threads(3) schedule(static)
	for (int number = 0; number < 3000; number++)
		sum += work(number);
	printf("%.6f\n", sum);
	return 0;
}
