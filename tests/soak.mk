# SPDX-License-Identifier: GPL-2.0-or-later
# The driver's faults in full. KILLS, CALLS and ROUNDS change the size,
# as in `make soak KILLS=500`, on User-Mode Linux; checked kernels take a tenth of the kills and
# calls and a quarter of the rounds. ONLY=EXPRESSION chooses kernels and cases, as in ONLY='race'.
# Units and instruments have soaks of their own, which `make soak` leaves out: CYCLES changes its size.

SOAK_LIVE = tests/kadapt/test_kadapt_live_soak.py
SOAK_PROBE = tests/kadapt/test_kadapt_probe_soak.py tests/kadapt/test_kadapt_probe_soak_um.py

.PHONY: soak soak-live soak-probe
soak: build-all test-deps ## kills, faults and fuzzed calls in full, and on KASAN and KCSAN kernels (hours)
	KADENCE_SOAK='$(KILLS):$(CALLS):$(ROUNDS)' $(PYTEST) -m soak -rA -s $(if $(ONLY),-k '$(ONLY)') \
		$(addprefix --ignore ,$(SOAK_LIVE) $(SOAK_PROBE)) tests/kadapt

soak-live: build-all test-deps ## removes and installs a unit under load on KASAN and KCSAN kernels, CYCLES=10000 times (hours)
	KADENCE_CYCLES='$(CYCLES)' $(PYTEST) -m soak -rA -s $(if $(ONLY),-k '$(ONLY)') $(SOAK_LIVE)

soak-probe: build-all test-deps ## instruments functions and lets them go under load on KASAN and KCSAN kernels, CYCLES=10000 times (hours)
	KADENCE_CYCLES='$(CYCLES)' $(PYTEST) -m soak -rA -s $(if $(ONLY),-k '$(ONLY)') $(SOAK_PROBE)
