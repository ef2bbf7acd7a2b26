# SPDX-License-Identifier: GPL-2.0-or-later
# GCC's whole torture suite with a marker in every function, at three optimisation levels.

TORTURE_RESULTS := docs/results/torture.txt

.PHONY: test-torture
test-torture: build-all test-deps ## GCC's torture suite with markers everywhere (about 15 minutes)
	@mkdir -p $(dir $(TORTURE_RESULTS))
	@{ echo "date: $$(date -u +%F)"; \
	   echo "machine: $$(nproc) processors, $$(uname -srm), $$($(CC12) --version | head -n 1)"; \
	   echo "commit: $$(git rev-parse --short HEAD)"; \
	   $(PYTHON) tests/gccplugin/torture.py; } | tee $(BUILD)/torture.txt
	@cp $(BUILD)/torture.txt $(TORTURE_RESULTS)
