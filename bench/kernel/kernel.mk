# SPDX-License-Identifier: GPL-2.0-or-later

# ONLY=EXPRESSION chooses programs by name, as in ONLY='heat|ring'. BUILDS=1 adds a cold and a warm
# build of a User-Mode Linux kernel.
.PHONY: bench-kernel
bench-kernel: build-bench ## effect of tailoring on a kernel: size, boot, kernel paths, memory
	$(PYTHON) -m bench.kernel.kernel $(if $(ONLY),--only '$(ONLY)') $(if $(BUILDS),--builds)
