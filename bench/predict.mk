# SPDX-License-Identifier: GPL-2.0-or-later
# ROUNDS=N, and ONLY=EXPRESSION for some programs by name.
.PHONY: bench-predict
bench-predict: build build-examples $(STAMPS)/predict-packages ## what User-Mode Linux was predicted to cost programs, beside what it does
	@$(PYTHON) bench/predict.py $(if $(ONLY),--only '$(ONLY)') $(if $(ROUNDS),--rounds $(ROUNDS))

$(STAMPS)/predict-packages: requirements/debian-predict.txt $(STAMPS)/packages
	@$(call install_packages,$<)
