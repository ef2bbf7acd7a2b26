# SPDX-License-Identifier: GPL-2.0-or-later
# Trials of policies: simulated runs with planted effects, and real programs.
SIMULATE := $(BUILD)/bench/trials/simulate
BENCH_TARGETS += $(SIMULATE)
DECISIONS := $(filter-out %_static.c,$(wildcard kadapt/lib/decide/*.c))

$(SIMULATE): bench/trials/simulate.c $(DECISIONS) $(LIBKADAPT_HEADERS)
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -std=gnu11 -I kadapt/lib -o $@ $(filter %.c,$^) -lm

.PHONY: bench-trials-simulated
bench-trials-simulated: build-bench ## decisions of trials on simulated visits with planted effects (RUNS=10000)
	$(PYTHON) -m bench.trials.simulated $(RUNS)

# ONLY=EXPRESSION chooses programs by name, ROUNDS=N how often each way runs.
.PHONY: bench-trials
bench-trials: build-bench ## trials on simulated visits, and in real programs on this machine's own kernel
	$(PYTHON) -m bench.trials.simulated $(RUNS) || status=$$?; \
	$(PYTHON) -m bench.trials.real $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(ONLY),--only '$(ONLY)'); exit $${status:-0}
