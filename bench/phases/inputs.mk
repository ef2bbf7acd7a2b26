# SPDX-License-Identifier: GPL-2.0-or-later

# ONLY=EXPRESSION chooses programs by name, as in ONLY='heat|ring'.
.PHONY: bench-inputs
bench-inputs: build-bench $(STAMPS)/minimap2-packages ## the examples on two inputs: stability, and markers on the input that did not choose them
	$(PYTHON) -m bench.phases.inputs $(if $(ONLY),--only '$(ONLY)')
