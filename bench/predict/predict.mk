# SPDX-License-Identifier: GPL-2.0-or-later
# ROUNDS=N sets the number of rounds, or of runs. ONLY=EXPRESSION chooses programs by name.
.PHONY: bench-predict
bench-predict: build build-examples $(STAMPS)/predict-packages ## predicted cost of User-Mode Linux for programs, beside the measured cost
	@$(PYTHON) -m bench.predict.predict $(if $(ONLY),--only '$(ONLY)') $(if $(ROUNDS),--rounds $(ROUNDS))

.PHONY: bench-ceiling
bench-ceiling: build build-examples $(STAMPS)/predict-packages ## predicted kernel time of programs, beside the measured one
	@$(PYTHON) -m bench.predict.ceiling $(if $(ONLY),--only '$(ONLY)') $(if $(ROUNDS),--runs $(ROUNDS))

$(STAMPS)/predict-packages: requirements/debian-predict.txt $(STAMPS)/packages
	@$(call install_packages,$<)
