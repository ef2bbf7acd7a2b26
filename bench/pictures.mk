# SPDX-License-Identifier: GPL-2.0-or-later

.PHONY: pictures
pictures: build test-deps $(STAMPS)/minimap2-packages ## the pictures of the examples in docs/
	@mkdir -p $(BUILD)/pictures
	$(PYTHON) bench/pictures.py $(BUILD)/pictures
	$(PYTHON) bench/inputs.py --pictures
