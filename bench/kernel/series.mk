# SPDX-License-Identifier: GPL-2.0-or-later

# ROUNDS=2 makes the bench shorter. BEFORE=IMAGE replaces 7.3 by a 6.12 kernel built before a change.
.PHONY: bench-series
bench-series: build-bench series-7.3 $(STAMPS)/minimap2-packages ## User-Mode Linux 6.12 and 7.3, one and two processors, ptrace and seccomp
	$(PYTHON) -m bench.kernel.series $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(BEFORE),--before $(BEFORE))
