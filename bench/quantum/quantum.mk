# SPDX-License-Identifier: GPL-2.0-or-later
# Table 1 of the application-specific Linux paper: bench/quantum/quantum.py.
QUANTUM := $(BUILD)/bench/quantum
BENCH_TARGETS += $(QUANTUM)

$(QUANTUM): bench/quantum/quantum.c bench/quantum/fibonacci.c bench/quantum/lu.c \
		bench/quantum/tasks.h kadapt/uapi/kadapt.h
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -Ikadapt/uapi -o $@ $(filter %.c,$^) -lm

# Programs with a plan in them, whose phase has a quantum of so many milliseconds, and the plain one.
SLICES := $(BUILD)/bench/slices
BENCH_TARGETS += $(addprefix $(SLICES)/,chase chase-10 chase-100 wakeups)

$(SLICES)/chase $(SLICES)/wakeups: $(SLICES)/%: bench/quantum/%.c
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -std=gnu11 -o $@ $<

$(SLICES)/chase-%: bench/quantum/chase.c $(LIBKADAPT) $(LIBKADAPT_IO) $(LIBKADAPT_HEADERS)
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -std=gnu11 -DQUANTUM_NS=$*000000 -I kadapt/lib -o $@ $< \
		-Wl,-u,kadapt_filter_anchor $(LIBKADAPT) -lc $(LIBKADAPT_IO)

# A run lasts at least SECONDS_PER_RUN. FULL=1 chooses the whole matrix, and ONLY=EXPRESSION lines by
# name, as in FULL=1 ONLY='2 processes, HZ=1000'.
.PHONY: bench-quantum
bench-quantum: build-bench ## the paper's Table 1: 5-second quanta against the default (FULL=1: every case)
	$(PYTHON) -m bench.quantum.quantum $(if $(SECONDS_PER_RUN),--seconds $(SECONDS_PER_RUN)) $(if $(FULL),--full) $(if $(ONLY),--only '$(ONLY)')

# ROUNDS=N is how often each way runs, and SLICED the folders of public programs.
SLICED ?= bench/corpus/bzip2
.PHONY: bench-slices
bench-slices: build-bench ## slices without the device: two programs that share a processor, and a neighbour
	$(PYTHON) -m bench.quantum.slices $(if $(ROUNDS),--rounds $(ROUNDS)) --programs '$(SLICED)'
