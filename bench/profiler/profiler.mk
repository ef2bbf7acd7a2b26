# SPDX-License-Identifier: GPL-2.0-or-later

# ROUNDS=N sets the number of counted rounds. ONLY='heat|lu' chooses programs by name.
.PHONY: bench-profiler
bench-profiler: build-bench $(STAMPS)/minimap2-packages ## cost of profiling: kbbv, compiled-in counters, Nulgrind, lackey, exp-bbv, gcov
	$(PYTHON) -m bench.profiler.profiler $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(ONLY),--only '$(ONLY)')

.PHONY: bench-profiler-distance
bench-profiler-distance: build-bench ## distance of intervals counted in fast mode from exact ones
	$(PYTHON) -m bench.profiler.profiler_distance
