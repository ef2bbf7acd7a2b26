# SPDX-License-Identifier: GPL-2.0-or-later
"""What the driver's and the library's tests need: the test programs and a reader of TAP."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.boot import debian
from kadence.kconfig.store.build import BuildRequest, build
from kadence.kconfig.tree import source

# Large enough for a journal, small enough to be filled.
DISK_BYTES = 8 << 20
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "trials")]
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


def compile_aside(command: list[str], target: Path) -> Path:
    """Compile under another name first: another worker may be running what is there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f"{target.name}.{os.getpid()}")
    subprocess.run([*command, "-o", str(aside)], check=True)
    return aside.replace(target)


def compile_program(root: Path, target: Path, sources: list[Path], *libraries: Path) -> Path:
    """A static program, so that it runs in any guest."""
    includes = [
        root / "kadapt/uapi",
        root / "kadapt/lib",
        HERE / "selftest",
        HERE / "faults",
        root / "boot",
    ]
    command = ["gcc-12", *FLAGS, *(f"-I{folder}" for folder in includes)]
    inputs = [str(path) for path in (*sources, *libraries)]
    return compile_aside([*command, *inputs, "-lpthread"], target)


@pytest.fixture(scope="session")
def selftest(root: Path) -> Path:
    """The driver's test program."""
    sources = sorted((HERE / "selftest").glob("*.c"))
    return compile_program(root, root / "build/tests/kadapt/kadapt-selftest", sources)


@pytest.fixture(scope="session")
def guest_program(root: Path) -> Callable[[Path], Path]:
    """Compiles a program of one file, so that it runs in any guest."""

    def make(source: Path) -> Path:
        return compile_program(root, root / "build/tests/kadapt" / source.stem, [source])

    return make


def fault_sources() -> list[Path]:
    """All of the program in which all goes wrong on purpose, but how it writes its records."""
    shared = [HERE / "selftest" / name for name in ("harness.c", "device.c", "ring.c")]
    own = [path for path in (HERE / "faults").glob("*.c") if path.name != "by_ring.c"]
    return [*sorted(own), *shared]


@pytest.fixture(scope="session")
def faults(root: Path) -> Path:
    """That program, past the library."""
    sources = [*fault_sources(), HERE / "faults/by_ring.c"]
    return compile_program(root, root / "build/tests/kadapt/kadapt-faults", sources)


@pytest.fixture(scope="session")
def library_faults(root: Path) -> Path:
    """That program, by the functions that the library interposes."""
    sources = [*fault_sources(), HERE / "faults/library/by_library.c"]
    target = root / "build/tests/kadapt/kadapt-faults-library"
    return compile_dynamic(root, target, sources, f"-I{HERE / 'faults'}")


# Of the guest; the host's files are its root, so that it mounts over a folder of the host's.
FAULTS_SCRIPT = """
set -e
mount -t @TYPE@ @DEVICE@ @FOLDER@
exec @PROGRAM@ -d @FOLDER@ @WORDS@
"""


def run_in_guest(
    kernel: Any,
    folder: Path,
    program: Path,
    words: str,
    disk: Path | None = None,
    memory_bytes: int | None = None,
) -> tuple[str, list[str]]:
    """The program's output, on tmpfs or on the disk, and what the kernel complained of."""
    script = FAULTS_SCRIPT
    values = {
        "TYPE": "ext4" if disk else "tmpfs",
        "DEVICE": "/dev/ubda" if disk else "none",
        "FOLDER": str(folder),
        "PROGRAM": str(program),
        "WORDS": words,
    }
    for name, value in values.items():
        script = script.replace(f"@{name}@", value)
    with tempfile.TemporaryFile() as output:
        request = boot.Request(
            image=kernel.image,
            argv=["sh", "-c", script],
            stdout=output.fileno(),
            stderr=output.fileno(),
            memory_bytes=memory_bytes,
            kernel_arguments=[f"ubd0={disk}"] if disk else [],
            hang_timeout_seconds=600.0,
        )
        result = boot.run(request)
        output.seek(0)
        return output.read().decode(), boot.complaints(result.log)


@pytest.fixture
def run_faults_on(faults: Path) -> Callable[..., tuple[str, list[str]]]:
    """Run that program on a kernel for User-Mode Linux; what it and the kernel say."""

    def run(kernel: Any, folder: Path, words: str, **guest: Any) -> tuple[str, list[str]]:
        return run_in_guest(kernel, folder, faults, words, **guest)

    return run


@pytest.fixture
def run_faults(generic_kernel: Any, run_faults_on: Callable[..., Any]) -> Callable[..., str]:
    """The same on the generic one, which must have nothing to say."""

    def run(folder: Path, words: str, disk: Path | None = None, **guest: Any) -> str:
        text, complaints = run_faults_on(generic_kernel, folder, words, disk=disk, **guest)
        assert complaints == [], complaints
        return str(text)

    return run


# What a program meets whose records go into rings; the rest speaks to the driver itself.
LIBRARY_CASES = "kill_file full_tmpfs number_taken closed passed_file touched many"


@pytest.fixture
def run_library_faults(generic_kernel: Any, library_faults: Path) -> Callable[..., str]:
    """Those by the functions that the library interposes, on the generic kernel."""

    def run(folder: Path, words: str) -> str:
        words = f"{words} {LIBRARY_CASES}"
        text, complaints = run_in_guest(generic_kernel, folder, library_faults, words)
        assert complaints == [], complaints
        return text

    return run


@pytest.fixture(scope="session")
def library_selftest(root: Path) -> Path:
    """The library's test program."""
    shared = [HERE / "selftest" / name for name in ("harness.c", "device.c")]
    sources = [*sorted((HERE / "library").glob("*.c")), *shared]
    target = root / "build/tests/kadapt/library-selftest"
    return compile_program(root, target, sources, root / "build/kadapt/libkadapt.a")


def compile_dynamic(root: Path, target: Path, sources: list[Path], *options: str) -> Path:
    """A dynamic program with I/O paths, which interpose; guests share the host's files."""
    flags = [flag for flag in FLAGS if flag != "-static"]
    includes = [root / "kadapt/uapi", root / "kadapt/lib", HERE / "selftest", root / "boot"]
    command = ["gcc-12", *flags, *(f"-I{folder}" for folder in includes), *options]
    archives = [str(root / "build/kadapt" / f"libkadapt{part}.a") for part in ("", "-io")]
    inputs = [*map(str, sources), archives[0], "-lc", archives[1]]
    return compile_aside([*command, *inputs, "-lpthread"], target)


def io_sources() -> list[Path]:
    """The test program of the library's I/O paths."""
    shared = [HERE / "selftest" / name for name in ("harness.c", "device.c")]
    return [*sorted((HERE / "io").glob("*.c")), *shared]


@pytest.fixture(scope="session")
def io_selftest(root: Path) -> Path:
    """That program, with what the library interposes."""
    return compile_dynamic(root, root / "build/tests/kadapt/io-selftest", io_sources())


@pytest.fixture(scope="session")
def static_io_selftest(root: Path) -> Path:
    """That program, in which no function of the C library's is interposed."""
    archives = [root / "build/kadapt" / f"libkadapt{part}.a" for part in ("", "-io-static")]
    target = root / "build/tests/kadapt/io-selftest-static"
    return compile_program(root, target, io_sources(), *archives)


def slices_sources() -> list[Path]:
    """The test program of slices."""
    shared = [HERE / "selftest" / name for name in ("harness.c", "device.c")]
    return [*sorted((HERE / "slices").glob("*.c")), *shared]


@pytest.fixture(scope="session")
def slices(root: Path) -> Path:
    """That program, with the functions that notice filters."""
    target = root / "build/tests/kadapt/slices"
    return compile_dynamic(root, target, slices_sources(), "-Wl,-u,kadapt_filter_anchor")


@pytest.fixture(scope="session")
def unguarded_slices(root: Path) -> tuple[Path, Path]:
    """That program without those functions: dynamic, and static."""
    folder = root / "build/tests/kadapt"
    archives = [root / "build/kadapt" / f"libkadapt{part}.a" for part in ("", "-io-static")]
    dynamic = compile_dynamic(root, folder / "slices-unguarded", slices_sources())
    return dynamic, compile_program(root, folder / "slices-static", slices_sources(), *archives)


@pytest.fixture(scope="session")
def mixes(root: Path) -> tuple[Path, Path, Path]:
    """The program of random mixes: plain, with its calls redirected, and with them interposed."""
    sources = sorted((HERE / "mix").glob("*.c"))
    folder = root / "build/tests/kadapt"
    plain = compile_dynamic(root, folder / "mix-plain", sources)
    adapted = compile_dynamic(root, folder / "mix-adapted", sources, "-DADAPTED")
    interposed = compile_dynamic(root, folder / "mix-interposed", sources, "-DINTERPOSED")
    return plain, adapted, interposed


@pytest.fixture(scope="session")
def threads(root: Path) -> tuple[Path, Path]:
    """The program of two threads: plain, and with its calls redirected and a plan."""
    sources = [HERE / "threads/threads.c"]
    folder = root / "build/tests/kadapt"
    plain = compile_dynamic(root, folder / "threads-plain", sources)
    return plain, compile_dynamic(root, folder / "threads-adapted", sources, "-DADAPTED")


@pytest.fixture(scope="session")
def stream_programs(root: Path) -> Callable[[str], tuple[Path, Path]]:
    """Build a program that writes through its language's library, plain and with I/O paths."""
    folder = root / "build/tests/kadapt"

    def build(source: str) -> tuple[Path, Path]:
        path = HERE / "streams" / source
        compiler = {".cc": "g++-12", ".f90": "gfortran-12"}[path.suffix]
        include = f"-I{root / 'kadapt/lib'}"
        planned = ["gcc-12", "-c", include, str(HERE / "streams/plan.c")]
        plan = compile_aside(planned, folder / "streams-plan.o")
        libraries = [f"{root}/build/kadapt/libkadapt{part}" for part in (".a", "-io.a")]
        linked = [str(path), str(plan), libraries[0], "-lc", libraries[1]]
        plain, adapted = (folder / f"{path.suffix[1:]}-{kind}" for kind in ("plain", "adapted"))
        compile_aside([compiler, "-O2", str(path)], plain)
        compile_aside([compiler, "-O2", *linked], adapted)
        return plain, adapted

    return build


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


@pytest.fixture
def empty_disk(tmp_path: Path) -> Path:
    """An empty ext4 file system in a file."""
    place = tmp_path / "disk"
    with place.open("wb") as disk:
        disk.truncate(DISK_BYTES)
    subprocess.run(["mke2fs", "-q", "-F", "-t", "ext4", place], check=True)
    return place


@pytest.fixture
def mistaken_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Any], Any]:
    """Builds a kernel whose driver has a mistake (test_kadapt_soak.py)."""

    def build_with(mistake: Any) -> Any:
        files = dict(source.driver_files())
        text = files[mistake.file].read_text(encoding="utf-8")
        assert text.count(mistake.right) == 1, "the driver is another: plant the mistake there"
        planted = tmp_path / Path(mistake.file).name
        planted.write_text(text.replace(mistake.right, mistake.wrong), encoding="utf-8")
        monkeypatch.setattr(source, "driver_files", lambda: files | {mistake.file: planted})
        return build(
            BuildRequest(
                kind=mistake.kind,
                target=mistake.target,
                units=mistake.units,
                points=mistake.points,
                overrides=mistake.overrides,
            )
        )

    return build_with
