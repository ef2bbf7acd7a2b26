# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows what each test costs: `pytest --costs`.

It counts processor seconds: pytest's own and those of the children that it waited for. Other work
on the machine hardly changes them, unlike the times of pytest's `--durations`. A fixture's cost
belongs to the first test that asks for it, as "setup" or "teardown". Processes that pytest does
not wait for, such as Slurm's daemons, are not counted.
"""

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

SHOWN = 40
PROPERTY = "processor_seconds"


def _used() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Costs:
    """Counts in the processes that run tests, and adds up in the process that gets the reports."""

    def __init__(self) -> None:
        self.before = _used()
        self.tests: Counter[str] = Counter()
        self.files: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[Any]:
        report = yield
        now = _used()
        report.user_properties = [*report.user_properties, (PROPERTY, now - self.before)]
        self.before = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        seconds = float(dict(report.user_properties).get(PROPERTY, 0))  # type: ignore[arg-type]
        step = "" if report.when == "call" else f" ({report.when})"
        self.tests[report.nodeid + step] += seconds  # type: ignore[assignment]
        self.files[report.nodeid.partition("::")[0]] += seconds  # type: ignore[assignment]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for title, found in (("files", self.files), ("tests", self.tests)):
            terminalreporter.section(f"processor seconds of {title}")
            for name, seconds in found.most_common(SHOWN):
                terminalreporter.write_line(f"{seconds:8.1f}  {name}")
            terminalreporter.write_line(f"{found.total():8.1f}  all")
