# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures that more than one folder's tests need."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/running"))

from costs import Costs  # noqa: E402
from patience import PATIENCE_SECONDS  # noqa: E402

from kadence.base import codec  # noqa: E402
from kadence.kconfig.request.needs import Needs  # noqa: E402

# What starts the tests may ignore some of these (nohup, a shell's background job), its children
# inherit that, and a shell cannot trap what it was started ignoring.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)

Completed = subprocess.CompletedProcess[str]


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def kadence() -> Callable[..., Completed]:
    """Run the real `kadence` command; returns the completed process with text streams."""
    command = Path(sys.executable).parent / "kadence"

    def run(*arguments: object, **options: Any) -> Completed:
        options = {"capture_output": True, "text": True, "timeout": PATIENCE_SECONDS} | options
        return subprocess.run([command, *map(str, arguments)], **options)

    return run


@pytest.fixture
def refused() -> Callable[[Completed], str]:
    """Assert that a command ended as bad input must: status 1, one sentence, no traceback."""

    def check(completed: Completed) -> str:
        complaint = completed.stderr.strip()
        assert completed.returncode == 1, completed
        assert "Traceback" not in complaint, complaint
        assert complaint.startswith("kadence: "), complaint
        assert len(complaint.splitlines()) == 1, complaint
        return complaint

    return check


@pytest.fixture(scope="session")
def generic_kernel() -> Any:
    """The generic UML kernel of the store, built once."""
    from kadence.kconfig.store.build import BuildRequest, build

    return build(BuildRequest(kind="generic"))


@pytest.fixture(scope="session")
def minimal_kernel() -> Any:
    """The UML kernel of the store that does nothing but start."""
    from kadence.kconfig.store.build import BuildRequest, build

    return build(BuildRequest(kind="minimal"))


@pytest.fixture(scope="session")
def make_plan() -> Callable[..., Path]:
    """Write a plan as `kadence plan` does, as far as kernels go; keywords say what is needed."""

    def make(path: Path, **needs: Any) -> Path:
        envelope = {"schema": "kadence.plan", "version": 6, "kadence": "0", "build_id": None}
        body = {"command": [], "program": ["x"], "needs": codec.encode(Needs()) | needs}
        path.write_text(json.dumps(envelope | body))
        return path

    return make


@pytest.fixture(scope="session")
def sockets_plan(make_plan: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plan of a program with threads, TCP and rings."""
    return make_plan(
        tmp_path_factory.mktemp("plan") / "sockets.plan.json",
        system_calls=["read", "write", "socket", "futex"],
        socket_families=[1, 2],
        threads=True,
        io_paths=True,
    )


@pytest.fixture(scope="session")
def sockets_kernel(sockets_plan: Path) -> Any:
    """A User-Mode Linux kernel tailored to this program, in the real store."""
    from kadence.kconfig.store.build import BuildRequest, build

    return build(BuildRequest(kind="tailored", plan=sockets_plan))


@pytest.fixture(scope="session")
def sockets_kernel_x86_64(sockets_plan: Path) -> Any:
    """The same for x86_64; takes minutes to build, so only for tests that are marked full."""
    from kadence.kconfig.store.build import BuildRequest, build

    return build(BuildRequest(kind="tailored", plan=sockets_plan, target="x86_64"))


@pytest.fixture(scope="session")
def module_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Build a module of one file for Debian's kernel."""
    from kadence.boot import debian

    def make(source: Path) -> Path:
        folder = tmp_path_factory.mktemp("module")
        shutil.copy(source, folder)
        (folder / "Kbuild").write_text(f"obj-m := {source.stem}.o\n")
        headers = debian.kernel_headers(debian.newest_release("6.12"))
        command = ["make", "-s", "-C", str(headers), f"M={folder}", "modules"]
        subprocess.run(command, check=True, env={"PATH": "/usr/bin:/bin"})
        return folder / f"{source.stem}.ko"

    return make


def pytest_addoption(parser: pytest.Parser) -> None:
    """Called by pytest."""
    parser.addoption("--costs", action="store_true", help="show which tests cost what")


def pytest_configure(config: pytest.Config) -> None:
    """Called by pytest."""
    if config.getoption("costs"):
        config.pluginmanager.register(Costs(), "costs of tests")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Called by pytest-xdist, where there are workers."""
    from sharing import Sharing

    return Sharing(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What fails often and quickly comes first, then tests with kernels.

    Of these the lab's begin: they build an x86_64 kernel, which takes longest, and a worker that
    came to them last would build it while the other has nothing left to do.
    """
    items.sort(key=lambda item: (needs_kernel(item), not item.nodeid.startswith("tests/lab/")))


def needs_kernel(item: pytest.Item) -> bool:
    """Whether the test boots or builds a kernel."""
    return item.get_closest_marker("kernel") is not None


def pytest_report_header() -> str:
    """Say on how many processors the run is, because kernel tests' times depend on it."""
    return f"processors: {os.cpu_count()}"
