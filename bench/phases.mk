# SPDX-License-Identifier: GPL-2.0-or-later

# SIZES='1000 100000' chooses how many intervals, ONLY='heat|ring' programs by name.
.PHONY: bench-phases
bench-phases: build-bench ## how good phases are and what finding them costs, beside SimPoint's method
	$(PYTHON) bench/phases.py $(if $(SIZES),--sizes $(SIZES)) $(if $(ONLY),--only '$(ONLY)')
