# SPDX-License-Identifier: GPL-2.0-or-later
"""What the driver's and the library's tests need: the test programs and a reader of TAP."""

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from kadence.boot import debian

HERE = Path(__file__).resolve().parent
FLAGS = ("-O2", "-g", "-Wall", "-Wextra", "-Werror", "-std=gnu11", "-static")
CASE = re.compile(r"^(?P<bad>not )?ok \d+ - (?P<name>\w+): [^#\n]*(?P<skip># SKIP)?", re.MULTILINE)
PLAN = re.compile(r"^1\.\.(\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Report:
    """The cases of one run of a test program, by outcome."""

    passed: frozenset[str]
    failed: frozenset[str]
    skipped: frozenset[str]


def read_tap(text: str) -> Report:
    """Read the report; one that is not complete is a failure."""
    text = text.replace("\r\n", "\n")
    cases = list(CASE.finditer(text))
    plan = PLAN.search(text)
    assert plan is not None, f"the test program did not come to its end:\n{text}"
    assert int(plan.group(1)) == len(cases), text
    failed = frozenset(case["name"] for case in cases if case["bad"])
    skipped = frozenset(case["name"] for case in cases if case["skip"])
    passed = frozenset(case["name"] for case in cases) - failed - skipped
    return Report(passed, failed, skipped)


@pytest.fixture(scope="session")
def tap() -> Callable[[str], Report]:
    """The reader of test programs' reports."""
    return read_tap


def compile_program(root: Path, target: Path, sources: list[Path], *libraries: Path) -> Path:
    """A static program, so that it runs in any guest."""
    target.parent.mkdir(parents=True, exist_ok=True)
    includes = [root / "kadapt/uapi", root / "kadapt/lib", HERE / "selftest"]
    command = ["gcc-12", *FLAGS, *(f"-I{folder}" for folder in includes), "-o", str(target)]
    inputs = [str(path) for path in (*sources, *libraries)]
    subprocess.run([*command, *inputs, "-lpthread"], check=True)
    return target


@pytest.fixture(scope="session")
def selftest(root: Path) -> Path:
    """The driver's test program."""
    sources = sorted((HERE / "selftest").glob("*.c"))
    return compile_program(root, root / "build/tests/kadapt/kadapt-selftest", sources)


@pytest.fixture(scope="session")
def library_selftest(root: Path) -> Path:
    """The library's test program."""
    shared = [HERE / "selftest" / name for name in ("harness.c", "device.c")]
    sources = [*sorted((HERE / "library").glob("*.c")), *shared]
    target = root / "build/tests/kadapt/library-selftest"
    return compile_program(root, target, sources, root / "build/kadapt/libkadapt.a")


@pytest.fixture(scope="session")
def kadapt_module(root: Path) -> Callable[[str], Path]:
    """Build kadapt.ko for a release of Debian's."""

    def build(release: str) -> Path:
        command = ["make", "--no-print-directory", "-C", str(root), "kadapt-module"]
        completed = subprocess.run(
            [*command, f"RELEASE={release}", f"KADAPT_HEADERS={debian.kernel_headers(release)}"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert completed.returncode == 0, completed.stdout + completed.stderr
        assert "warning:" not in completed.stderr, completed.stderr
        return root / "build/kadapt" / f"module-{release}" / "kadapt.ko"

    return build
