# SPDX-License-Identifier: GPL-2.0-or-later
# Examples from source to report, each with one command.
DEMOS := $(BUILD)/demo

.PHONY: demo
demo: build-lab ## examples/heat from source to report, on kernels made for it
	@$(VENV)/bin/kadence specialize examples/heat -o $(DEMOS)/heat

.PHONY: demo-minimap2
demo-minimap2: build $(STAMPS)/minimap2-packages ## the same with minimap2, a program from outside this project
	@$(VENV)/bin/kadence specialize examples/minimap2 -o $(DEMOS)/minimap2

$(STAMPS)/minimap2-packages: requirements/debian-minimap2.txt $(STAMPS)/packages
	@$(call install_packages,$<)
