# SPDX-License-Identifier: GPL-2.0-or-later
# The example programs, built without Kadence: tests and benchmarks run them natively.
EXAMPLE_PROGRAMS := $(BUILD)/examples/heat/heat $(BUILD)/examples/heat-openmp/heat-openmp \
	$(BUILD)/examples/lu/lu $(BUILD)/examples/ring/ring \
	$(BUILD)/examples/fft/fft
EXAMPLE_TARGETS += $(EXAMPLE_PROGRAMS)

define EXAMPLE_RULE
$(BUILD)/examples/$(1)/$(1): examples/$(1)/$(2) examples/$(1)/Makefile
	mkdir -p $$(@D)
	$$(MAKE) -C $$(@D) -f $$(abspath examples/$(1)/Makefile) CC=$$(CC12) CXX=$$(CXX12) FC=$$(FC12)
endef
$(eval $(call EXAMPLE_RULE,heat,heat.c))
$(eval $(call EXAMPLE_RULE,heat-openmp,heat-openmp.c))
$(eval $(call EXAMPLE_RULE,lu,lu.f90))
$(eval $(call EXAMPLE_RULE,ring,ring.cpp))
$(eval $(call EXAMPLE_RULE,fft,fft.c))
