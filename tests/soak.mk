# SPDX-License-Identifier: GPL-2.0-or-later
# The driver's faults in full. KILLS, CALLS and ROUNDS change the size,
# as in `make soak KILLS=500`, on User-Mode Linux; checked kernels take a tenth of the kills and
# calls and a quarter of the rounds. ONLY=EXPRESSION chooses kernels and cases, as in ONLY='race'.

.PHONY: soak
soak: build-all test-deps ## kills, faults and fuzzed calls in full, and on KASAN and KCSAN kernels (hours)
	KADENCE_SOAK='$(KILLS):$(CALLS):$(ROUNDS)' $(PYTEST) -m soak -rA -s $(if $(ONLY),-k '$(ONLY)') \
		tests/kadapt
