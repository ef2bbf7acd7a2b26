# SPDX-License-Identifier: GPL-2.0-or-later

# ROUNDS=N counts so many rounds, ONLY='heat|lu' chooses programs by name.
.PHONY: bench-profiler
bench-profiler: build-bench $(STAMPS)/minimap2-packages ## what profiling costs: kbbv, compiled-in counters, Nulgrind, lackey, exp-bbv, gcov
	$(PYTHON) bench/profiler.py $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(ONLY),--only '$(ONLY)')

.PHONY: bench-profiler-distance
bench-profiler-distance: build-bench ## how far intervals counted in fast mode are from exact ones
	$(PYTHON) bench/profiler_distance.py
