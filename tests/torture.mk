# SPDX-License-Identifier: GPL-2.0-or-later
# GCC's whole torture suite with a marker in every function, at three optimisation levels; and its
# run tests of C++ and Fortran in every mode.

TORTURE_RESULTS := docs/results/torture.txt
TORTURE_DG_RESULTS := docs/results/torture-languages.txt

# torture_results PROGRAM FILE: what it prints, under a head that says where it ran.
define torture_results
	@mkdir -p $(dir $(2))
	@{ echo "date: $$(date -u +%F)"; \
	   echo "machine: $$(nproc) processors, $$(uname -srm), $$($(CC12) --version | head -n 1)"; \
	   echo "commit: $$(git rev-parse --short HEAD)"; \
	   $(PYTHON) tests/gccplugin/$(1); } | tee $(BUILD)/$(notdir $(2))
	@cp $(BUILD)/$(notdir $(2)) $(2)
endef

.PHONY: test-torture
test-torture: build-all test-deps ## GCC's own run tests, in every mode of the compiler (over an hour)
	$(call torture_results,torture.py,$(TORTURE_RESULTS))
	$(call torture_results,torture_dg.py,$(TORTURE_DG_RESULTS))
