# SPDX-License-Identifier: GPL-2.0-or-later

# SIZES='1000 100000' chooses how many intervals, ONLY='heat|ring' programs by name.
.PHONY: bench-phases
bench-phases: build-bench ## how good phases are and what finding them costs, beside SimPoint's method
	$(PYTHON) bench/phases.py $(if $(SIZES),--sizes $(SIZES)) $(if $(ONLY),--only '$(ONLY)')

# PROFILES names your own: `kadence profile --interval N -o P.kprof -- PROGRAM` makes them.
.PHONY: bench-phases-real
bench-phases-real: build ## how good the phases of PROFILES are, beside SimPoint's clusters, as many of these
	@$(if $(PROFILES),$(PYTHON) bench/phases_real.py $(PROFILES),echo "bench-phases-real needs PROFILES='a.kprof b.kprof'" >&2; exit 1)
