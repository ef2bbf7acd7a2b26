# SPDX-License-Identifier: GPL-2.0-or-later

# ROUNDS=N counts so many rounds, ONLY='heat|lu' chooses programs by name.
.PHONY: bench-profiler
bench-profiler: build $(STAMPS)/minimap2-packages ## what profiling costs: kbbv, compiled-in counters, Nulgrind, lackey, exp-bbv, gcov
	$(PYTHON) bench/profiler.py $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(ONLY),--only '$(ONLY)')
