# SPDX-License-Identifier: GPL-2.0-or-later

# INTERVALS and BLOCKS change the run, as in INTERVALS=1000000 BLOCKS=30.
.PHONY: bench-view
bench-view: build-bench test-deps ## the page of a long run: its size, and the times to open and to repaint it
	$(PYTHON) -m bench.phases.view $(if $(INTERVALS),--intervals $(INTERVALS)) $(if $(BLOCKS),--blocks $(BLOCKS))
