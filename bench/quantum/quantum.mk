# SPDX-License-Identifier: GPL-2.0-or-later
# Table 1 of the application-specific Linux paper: bench/quantum/quantum.py.
QUANTUM := $(BUILD)/bench/quantum
BENCH_TARGETS += $(QUANTUM)

$(QUANTUM): bench/quantum/quantum.c bench/quantum/fibonacci.c bench/quantum/lu.c \
		bench/quantum/tasks.h kadapt/uapi/kadapt.h
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -Ikadapt/uapi -o $@ $(filter %.c,$^) -lm

# A run lasts at least SECONDS_PER_RUN. FULL=1 chooses the whole matrix, and ONLY=EXPRESSION lines by
# name, as in FULL=1 ONLY='2 processes, HZ=1000'.
.PHONY: bench-quantum
bench-quantum: build-bench ## the paper's Table 1: 5-second quanta against the default (FULL=1: every case)
	$(PYTHON) -m bench.quantum.quantum $(if $(SECONDS_PER_RUN),--seconds $(SECONDS_PER_RUN)) $(if $(FULL),--full) $(if $(ONLY),--only '$(ONLY)')
