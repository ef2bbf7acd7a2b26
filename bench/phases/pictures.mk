# SPDX-License-Identifier: GPL-2.0-or-later

.PHONY: pictures
pictures: build test-deps $(STAMPS)/minimap2-packages ## the pictures of the examples in docs/
	@mkdir -p $(BUILD)/pictures
	$(PYTHON) -m bench.phases.pictures $(BUILD)/pictures
	$(PYTHON) -m bench.phases.inputs --pictures
