# SPDX-License-Identifier: GPL-2.0-or-later
# Trials of policies: simulated runs with planted effects, and real programs.
SIMULATE := $(BUILD)/bench/trials/simulate
BENCH_TARGETS += $(SIMULATE)
DECISIONS := $(filter-out %_static.c,$(wildcard kadapt/lib/decide/*.c))

$(SIMULATE): bench/trials/simulate.c $(DECISIONS) $(LIBKADAPT_HEADERS)
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -std=gnu11 -I kadapt/lib -o $@ $(filter %.c,$^) -lm

# Programs with a policy that harms, that does nothing, or that costs all ranks something. Each has
# its plan in it, and the first two exist without a plan, too.
PLANTED := $(BUILD)/bench/trials/planted
BENCH_TARGETS += $(addprefix $(PLANTED)/,starve starve-plain sparse sparse-plain alike)
COMPILE_PLANTED = mkdir -p $(@D) && $(CC12) $(CFLAGS_STRICT) -std=gnu11 -I kadapt/lib -I bench/trials -o $@ $<
LINK_IO := -Wl,-u,kadapt_batch_write $(BUILD)/kadapt/libkadapt-io.a

$(PLANTED)/%: bench/trials/planted/%.c bench/trials/planted/visits.h $(LIBKADAPT_HEADERS) $(BUILD)/kadapt/libkadapt-io.a
	@$(COMPILE_PLANTED) $(LINK_IO)

$(PLANTED)/%-plain: bench/trials/planted/%.c bench/trials/planted/visits.h $(LIBKADAPT_HEADERS)
	@$(COMPILE_PLANTED) -DPLAIN

$(PLANTED)/sparse: bench/trials/planted/sparse.c bench/trials/planted/visits.h $(LIBKADAPT_HEADERS) $(BUILD)/kadapt/libkadapt-memory.a
	@$(COMPILE_PLANTED) $(BUILD)/kadapt/libkadapt.a -lc $(BUILD)/kadapt/libkadapt-memory.a

$(PLANTED)/ranks: bench/trials/planted/ranks.c bench/trials/planted/visits.h $(LIBKADAPT_HEADERS) $(BUILD)/kadapt/libkadapt-io.a $(STAMPS)/corpus-packages
	@mkdir -p $(@D)
	OMPI_CC=$(CC12) mpicc $(CFLAGS_STRICT) -std=gnu11 -I kadapt/lib -I bench/trials -o $@ $< $(LINK_IO)

.PHONY: bench-trials-simulated
bench-trials-simulated: build-bench ## decisions of trials on simulated visits with planted effects (RUNS=10000)
	$(PYTHON) -m bench.trials.simulated $(RUNS)

# ROUNDS=N is how often each way runs; RUNS_ALIKE=N the number of runs that must claim nothing.
.PHONY: bench-trials-harm
bench-trials-harm: build-bench build-lab ## policies that harm on purpose: after how many visits they are off (ONLY='starve|sparse')
	$(PYTHON) -m bench.trials.harm $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(ONLY),--only '$(ONLY)')

.PHONY: bench-trials-alike
bench-trials-alike: build-bench ## 100 real runs of a policy that changes nothing: how many claim an effect
	$(PYTHON) -m bench.trials.alike $(if $(RUNS_ALIKE),--runs $(RUNS_ALIKE))

.PHONY: bench-trials-ranks
bench-trials-ranks: build-bench $(PLANTED)/ranks ## MPI ranks that wait for one another, with one seed and with a seed each
	$(PYTHON) -m bench.trials.ranks $(if $(ROUNDS),--rounds $(ROUNDS))

# PLACE='own|um|lab' chooses places, ONLY=EXPRESSION programs by name, ROUNDS=N how often each way runs.
TRIALS_REAL = $(PYTHON) -m bench.trials.real $(if $(PLACE),--place '$(PLACE)') $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(ONLY),--only '$(ONLY)')

.PHONY: bench-trials
bench-trials: build-bench build-lab $(STAMPS)/corpus-packages $(STAMPS)/minimap2-packages ## trials on simulated visits, and in real programs on the own kernel, on UML and in the lab
	$(PYTHON) -m bench.trials.simulated $(RUNS) || status=$$?; \
	$(TRIALS_REAL); exit $${status:-0}

.PHONY: bench-trials-real
bench-trials-real: build-bench build-lab $(STAMPS)/corpus-packages $(STAMPS)/minimap2-packages ## the second half of bench-trials alone
	$(TRIALS_REAL)
