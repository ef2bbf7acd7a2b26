# SPDX-License-Identifier: GPL-2.0-or-later
"""GCC's own gcc.c-torture/execute programs, compiled with and without the plugin.

The plugin inserts a phase call in every function and before every loop, and redirects every call of
the C library that it can. The program must then compile, end and print as without the plugin. When
the plugin only records, the assembly text must be the same except for the records. A program that
fails in the same way without the plugin passes.

    python tests/gccplugin/torture.py [-O0 -O2 -O3]
"""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

# As a script, without pytest's conftest.py. The other scripts here import this module first.
sys.path.insert(0, str(Path(__file__).parents[1] / "running"))

from compilers import GCC, PLUGIN, RELEASE  # noqa: E402

from kadence.base.resources import cache_directory  # noqa: E402

PACKAGE = f"gcc-{RELEASE}-source"
TESTS = "/gcc/testsuite/"
SUITE = "gcc.c-torture/execute"
# These folders are unpacked with everything below them.
FOLDERS = (SUITE, "g++.dg/eh", "g++.dg/torture", "g++.dg/init", "gfortran.dg")
STUBS = ("torture_stub", "torture_stub_new")
SECONDS = 600
WORKERS = 2

# From the suite's builtins.exp.
BUILTINS_OPTIONS = (
    "-fno-tree-dse",
    "-fno-tree-loop-distribute-patterns",
    "-fno-tracer",
    "-fno-ipa-ra",
    "-fno-inline-functions",
)
DIRECTIVE = re.compile(
    r'\{ dg-(?:additional-)?options (?:"([^"]*)"|\{ "([^"]*)" \}|(-[^\s}]+))'
    r"\s*(\{ target (.*)\})?\s*\}"
)
# Addresses and names of temporary files differ from run to run.
VARYING = re.compile(rb"0x[0-9a-f]{8,}|gfortrantmp\w{6}")
EXTRA_FLAGS = re.compile(r"(?:set|lappend) additional_flags (-\S+|\"[^\"]*\".*)")


@dataclass(frozen=True)
class Program:
    """The source files of one executable, and the options to compile them."""

    name: str
    sources: tuple[Path, ...]
    options: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a program at one optimisation level; an empty complaint is a pass."""

    name: str
    level: str
    complaint: str
    failed_before: bool  # the program fails without the plugin, too

    def __str__(self) -> str:
        return f"{self.name} {self.level}: {self.complaint or 'passed'}"


@dataclass(frozen=True)
class Behaviour:
    """A program's observable behaviour."""

    stage: str  # compile, link, run
    status: int | str
    output: bytes = b""


def suite(folder: str = SUITE) -> Path:
    """A folder of GCC's tests, from Debian's package. The first call unpacks it into the cache."""
    kept = cache_directory() / f"gcc-{RELEASE}-tests"
    if not (kept / "complete").exists():
        kept.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            _unpack(_source_archive(Path(scratch)), kept)
        (kept / "complete").touch()
    return kept / folder


def _source_archive(scratch: Path) -> Path:
    """GCC's source archive, from the installed package or else from one that this downloads."""
    place = Path(f"/usr/src/gcc-{RELEASE}")
    if not place.is_dir():
        subprocess.run(["apt-get", "-q", "download", PACKAGE], cwd=scratch, check=True)
        (package,) = scratch.glob("*.deb")
        subprocess.run(["dpkg-deb", "--extract", package, scratch], check=True)
        place = scratch / f"usr/src/gcc-{RELEASE}"
    (archive,) = place.glob(f"gcc-{RELEASE}*.tar.xz")
    return archive


def _unpack(archive: Path, kept: Path) -> None:
    wanted = tuple(f"{folder}/" for folder in FOLDERS)
    with tarfile.open(archive) as sources:
        for member in sources:
            _, _, name = member.name.partition(TESTS)
            if not name.startswith(wanted) or not member.isfile():
                continue
            content = sources.extractfile(member)
            target = kept / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.read() if content else b"")


def programs() -> list[Program]:
    """Every program of the suite, sorted by file name, those in `builtins` last."""
    directory = suite()
    plain = sorted([*directory.glob("*.c"), *directory.glob("ieee/*.c")])
    found = [
        Program(str(path.relative_to(directory)), (path,), ("-lm", *options_of(path)))
        for path in plain
    ]
    for path in sorted(directory.glob("builtins/*-lib.c")):
        test = path.with_name(path.name.replace("-lib.c", ".c"))
        sources = (test, path, directory / "builtins/lib/main.c")
        options = (*BUILTINS_OPTIONS, *options_of(test))
        found.append(Program(f"builtins/{test.name}", sources, options))
    return found


def options_of(source: Path) -> tuple[str, ...]:
    """The compiler options that the directives in `source` request for this machine."""
    options: list[str] = []
    text = source.read_text(encoding="utf-8", errors="replace")
    for plain, braced, bare, selector, target in DIRECTIVE.findall(text):
        if not selector or ("x86_64" in target and "ia32" not in target):
            options += (plain or braced or bare).split()
    companion = source.with_suffix(".x")
    if companion.exists():
        for flags in EXTRA_FLAGS.findall(companion.read_text(encoding="utf-8")):
            options += flags.replace('"', "").split()
    return tuple(options)


def compare(program: Program, level: str, archive: Path) -> Outcome:
    """Compile and run `program` with and without the plugin."""
    plugin = f"-fplugin={PLUGIN}"
    options = [level, "-w", *program.options]
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        plain = assemble(program, options, scratch, "plain")
        recorded = assemble(program, [*options, plugin], scratch, "recorded")
        behaviour = build_and_run((*plain, archive), options, scratch / "without")
        # With -fchecking, the compiler checks its data structures after every pass.
        arguments = ["mark-all", "redirect-all"]
        marking = [*options, plugin, *(f"-fplugin-arg-kadence-{name}" for name in arguments)]
        marking.append("-fchecking")
        marked = build_and_run((*program.sources, archive), marking, scratch / "with")
        complaint = ""
        if without_records(texts_of(recorded)) != texts_of(plain):
            complaint = "the assembly text differs where the plugin only records"
        elif marked != behaviour:
            complaint = f"without the plugin {behaviour}, with it {marked}"
        elif marked.stage == "run" and b"kadapt_phase_enter" not in (scratch / "with").read_bytes():
            complaint = "no function was marked"
        failed = behaviour.stage != "run" or behaviour.status != 0
        return Outcome(program.name, level, complaint, failed)


def assemble(
    program: Program,
    options: Sequence[str],
    scratch: Path,
    name: str,
    compiler: str | Path = GCC,
) -> tuple[Path, ...]:
    """Compile to assembly files; returns their paths. A file is missing if its source fails."""
    targets = tuple(scratch / f"{name}{index}.s" for index in range(len(program.sources)))
    for source, target in zip(program.sources, targets, strict=True):
        command: list[str | Path] = [compiler, *options, "-S", "-o", target, source]
        subprocess.run(command, cwd=scratch, capture_output=True, timeout=SECONDS)
    return targets


def texts_of(files: Iterable[Path]) -> list[str]:
    return [file.read_text(errors="replace") if file.exists() else "" for file in files]


def without_records(texts: Iterable[str]) -> list[str]:
    """Assembly texts without the section that the plugin adds."""
    return [
        re.sub(r"\t\.section\t\.kadence\.cfg.*\n(\t\.(ascii|base64).*\n)*", "", text)
        for text in texts
    ]


def build_and_run(
    inputs: Sequence[Path],
    options: Sequence[str],
    target: Path,
    compiler: str | Path = GCC,
    environment: Mapping[str, str] | None = None,
) -> Behaviour:
    """Compile, link and run a program; returns its behaviour."""
    command: list[str | Path] = [compiler, *inputs, *options, "-o", target]
    surroundings = {**os.environ, **(environment or {})}
    with tempfile.TemporaryDirectory() as directory:
        try:
            compiled = subprocess.run(
                command, cwd=directory, env=surroundings, capture_output=True, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            return Behaviour("compile", "timed out")
        if compiled.returncode:
            return Behaviour("compile", compiled.returncode)
        try:
            ran = subprocess.run(
                [target],
                cwd=directory,
                env=surroundings,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired:
            return Behaviour("run", "timed out")
    return Behaviour("run", ran.returncode, VARYING.sub(b"VARYING", ran.stdout + ran.stderr))


def build_archive(directory: Path) -> Path:
    """Build the archive of STUBS, whose phase call overwrites every register that it may."""
    members = [directory / f"{name}.o" for name in STUBS]
    archive = directory / "libstub.a"
    for member in members:
        source = Path(__file__).with_name("programs") / f"{member.stem}.c"
        command: list[str | Path] = [GCC, "-O2", "-fexceptions", "-c", "-o", member, source]
        subprocess.run(command, check=True)
    subprocess.run(["ar", "rc", archive, *members], check=True)
    return archive


def run(chosen: Sequence[Program], levels: Sequence[str]) -> list[Outcome]:
    """Compare every chosen program at every level, WORKERS at a time."""
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(WORKERS) as pool:
        archive = build_archive(Path(directory))
        jobs = [
            pool.submit(compare, program, level, archive) for level in levels for program in chosen
        ]
        return [job.result() for job in jobs]


def sample(size: int) -> list[Program]:
    """`size` programs, spread evenly over the suite."""
    found = programs()
    return [found[index * len(found) // size] for index in range(size)]


def summarise(outcomes: Sequence[Outcome]) -> str:
    """A line per failure and per program that fails without the plugin too, and the totals."""
    failures = [outcome for outcome in outcomes if outcome.complaint]
    before = [outcome for outcome in outcomes if outcome.failed_before and not outcome.complaint]
    lines = [f"FAILED {outcome}" for outcome in failures]
    lines += [f"same (fails without the plugin, too): {o.name} {o.level}" for o in before]
    lines.append(f"{len(outcomes) - len(failures)} passed, {len(failures)} failed")
    return "\n".join(lines)


def main(levels: Sequence[str]) -> int:
    """Run the whole suite and print a summary of all levels."""
    chosen = programs()
    sources = sum(1 for _ in suite().rglob("*.c"))
    wanted = levels or ("-O0", "-O2", "-O3")
    print(f"{len(chosen)} programs of {sources} source files at {' '.join(wanted)}", flush=True)
    outcomes: list[Outcome] = []
    for level in wanted:
        outcomes += run(chosen, (level,))
        print(f"{level} done: {len(outcomes)} so far", file=sys.stderr, flush=True)
    print(summarise(outcomes))
    return any(outcome.complaint for outcome in outcomes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
