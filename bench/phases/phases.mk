# SPDX-License-Identifier: GPL-2.0-or-later

# SIZES='1000 100000' chooses the numbers of intervals, ONLY='heat|ring' the programs by name.
.PHONY: bench-phases
bench-phases: build-bench ## quality of phases and cost of finding them, beside SimPoint's method
	$(PYTHON) -m bench.phases.phases $(if $(SIZES),--sizes $(SIZES)) $(if $(ONLY),--only '$(ONLY)')

# PROFILES names your own profiles: `kadence profile --interval N -o P.kprof -- PROGRAM` makes them.
.PHONY: bench-phases-real
bench-phases-real: build ## quality of the phases of PROFILES, beside the same number of SimPoint's clusters
	@$(if $(PROFILES),$(PYTHON) -m bench.phases.phases_real $(PROFILES),echo "bench-phases-real needs PROFILES='a.kprof b.kprof'" >&2; exit 1)
