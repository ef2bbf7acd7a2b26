# SPDX-License-Identifier: GPL-2.0-or-later

# PROGRAMS has names of programs of bench/corpus; ROUNDS is the number of runs of each build. With
# BUILT=1 the builds of an earlier run are measured once more.
LAYOUT_PROGRAMS := lua sqlite3 gzip bzip2 mawk samtools hmmer zstd bc cadical
.PHONY: bench-layout
bench-layout: build $(STAMPS)/corpus-packages ## Debian's programs laid out by their counts, beside plain builds and GCC's own -fprofile-use (PROGRAMS="…" ROUNDS=…)
	@$(PYTHON) -m bench.layout.layout $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(BUILT),--built) $(or $(PROGRAMS),$(LAYOUT_PROGRAMS))

# PROGRAMS has names of bench/layout/positioned.py. With COUNTED=1 the counts of an earlier run are
# shown.
.PHONY: bench-layout-kernel
bench-layout-kernel: build build-lab $(STAMPS)/test-packages ## a tailored kernel laid out for each program, beside itself (PROGRAMS="…")
	@$(PYTHON) -m bench.layout.positioned $(if $(COUNTED),--counted) $(PROGRAMS)

$(BUILD)/bench/derive: bench/layout/derive.cc gccplugin/layout/edge_counts.cc gccplugin/layout/edge_counts.h
	@mkdir -p $(@D)
	$(CXX12) $(CXXFLAGS_STRICT) -O2 -Igccplugin -o $@ $(filter %.cc,$^)

.PHONY: bench-layout-edges
bench-layout-edges: build build-lab build-examples $(BUILD)/bench/derive ## counts of edges derived from counts of blocks, beside the edges that ran
	@$(PYTHON) -m bench.layout.edges

.PHONY: bench-layout-orders bench-layout-groups bench-layout-untrained
bench-layout-orders: build-lab ## orders for the linker, on a program that bench-layout-kernel counted (PROGRAM=…)
	@$(PYTHON) -m bench.layout.orders $(or $(PROGRAM),ring)
bench-layout-groups: build-lab ## groups of objects laid out alone, as a running kernel could take them (PROGRAM=…)
	@$(PYTHON) -m bench.layout.groups $(or $(PROGRAM),ring)
bench-layout-untrained: build-lab build-bench ## the lab's operations on a kernel laid out for a program that bench-layout-kernel counted, or with COPIES=1 on Debian's with copies (PROGRAM=…)
	@$(PYTHON) -m bench.layout.untrained $(if $(COPIES),--copies) $(or $(PROGRAM),ring)

.PHONY: bench-layout-copies
bench-layout-copies: build-lab ## Debian's kernel with copies of its hot code, for programs that bench-layout-kernel built (PROGRAMS="…")
	@$(PYTHON) -m bench.layout.copies $(or $(PROGRAMS),ring sqlite3 heat)
