# SPDX-License-Identifier: GPL-2.0-or-later

.PHONY: bench-profiler
bench-profiler: build ## what profiling costs: kbbv against Nulgrind and exp-bbv on the examples
	$(PYTHON) bench/profiler.py $(BENCH_ARGUMENTS)
