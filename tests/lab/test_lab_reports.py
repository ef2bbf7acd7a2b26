# SPDX-License-Identifier: GPL-2.0-or-later
"""What the guest says of itself, and guests that say nothing."""

from pathlib import Path

import pytest

from kadence.base.errors import GuestError, ToolError
from kadence.lab import Guest, settled, take

REPORT = """started_ns 290437864
windows 12
settled 1
file_system 9p
processor_ns 60412000
finished_ns 950615150
"""


def test_the_report_is_read() -> None:
    found = settled.read(REPORT.splitlines())
    assert (found.boot_ns, found.settle_ns) == (290_437_864, 660_177_286)
    assert (found.windows, found.settled, found.file_system) == (12, True, "9p")


@pytest.mark.parametrize("missing", ["started_ns", "finished_ns", "settled", "windows"])
def test_half_a_report_is_refused(missing: str) -> None:
    lines = [line for line in REPORT.splitlines() if not line.startswith(missing)]
    with pytest.raises(GuestError, match=missing):
        settled.read(lines)


def test_what_is_no_kernel_is_told(tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.write_text("no kernel\n" * 1000, encoding="ascii")
    with pytest.raises(ToolError, match="no kernel at all"):
        take(Guest("no kernel at all", image), ["getppid"])
