# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the corpus in the lab, in instructions: `make corpus-lab`, after `make corpus`.

One x86_64 kernel, tailored to the united needs of all plans, runs the plain and the adapted
programs. Debian's own kernel runs the plain programs. The input is the one that the plan was
validated with, because an emulated guest takes some fifty times as long as the machine. The lab's
clock counts instructions, so other work on the machine changes no figure.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bench.base import tailored
from kadence.base import artefact, resources
from kadence.base.errors import KadenceError
from kadence.lab.guest import STOCK, X86_64
from kadence.measurement import execution
from kadence.measurement.measure import ADAPTED, PLAIN
from kadence.program import outputs, program
from kadence.program.places import Places
from kadence.program.program import Program

RESULT = "lab.json"
TABLE = "lab.txt"
TAILORED = "tailored"
# Kernel and program, in the order of the table's columns. The first is the base of the ratios.
RUNS = ((STOCK, PLAIN), (TAILORED, PLAIN), (TAILORED, ADAPTED))
HEADINGS = (
    *("program", "millions, plain on Debian's", "plain, tailored/Debian"),
    *("adapted, tailored/Debian", "adapted/plain, tailored", "faults, tailored", "outputs"),
)
NOTHING = "-"
MEMORY = "3G"  # samtools reserves 768 MiB for each of two threads


def main() -> int:
    """Run the programs that have no kept result, then print and keep the table."""
    options = _options()
    place = options.output.resolve()
    names = options.programs or _planned(place)
    kernels = {STOCK: STOCK, TAILORED: str(_kernel(place))}
    with ThreadPoolExecutor(options.at_once) as pool:
        found = list(pool.map(lambda name: _taken(name, place, kernels, options.limit), names))
    text = "\n".join(_table(names, found))
    print(text)
    (place / TABLE).write_text(f"{text}\n", encoding="utf-8")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="corpus-lab", description=__doc__)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    parser.add_argument("--output", type=Path, default=resources.home() / "build" / "corpus")
    parser.add_argument("--limit", type=float, default=600, help="seconds for each run")
    parser.add_argument("--at-once", type=int, default=2, metavar="N", help="guests at a time")
    return parser.parse_args()


def _planned(place: Path) -> list[str]:
    """Returns the programs for which `make corpus` has left a plan."""
    return sorted(path.parent.name for path in place.glob("*/*.plan.json"))


def _kernel(place: Path) -> Path:
    """Returns the kernel that serves the needs of every plan."""
    plans = [artefact.read(path, artefact.PLAN) for path in sorted(place.glob("*/*.plan.json"))]
    return tailored.kernel("corpus", united(plan["needs"] for plan in plans), X86_64).image


def united(needs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Unites needs: the union of lists, true if any is true, and the largest of amounts."""
    result: dict[str, Any] = {}
    for one in needs:
        for key, value in one.items():
            before = result.get(key)
            if isinstance(value, list):
                result[key] = sorted({*(before or []), *value})
            else:
                result[key] = value if before is None else max(before, value)
    return result


def _taken(name: str, place: Path, kernels: Mapping[str, str], limit: float) -> dict[str, Any]:
    """Returns the kept readings, or takes new ones. A failed run's reading holds the error text."""
    kept = place / name / RESULT
    if kept.is_file():
        return dict(json.loads(kept.read_text(encoding="utf-8")))
    described = program.read(resources.home() / "bench" / "corpus" / name)
    places = Places(place / name, described.name)
    found: dict[str, Any] = {}
    for kernel, mode in RUNS:
        try:
            found[f"{kernel} {mode}"] = _reading(described, places, kernels[kernel], mode, limit)
        except (KadenceError, OSError, subprocess.SubprocessError) as error:
            found[f"{kernel} {mode}"] = {"failed": str(error)}
    kept.write_text(json.dumps(found, indent=1), encoding="utf-8")
    print(f"corpus-lab: {name}", file=sys.stderr, flush=True)
    return found


def _reading(
    described: Program, places: Places, kernel: str, mode: str, limit: float
) -> dict[str, Any]:
    """Returns figures of `kadence lab`, and whether the outputs equal those on the own kernel."""
    folder, scratch = places.build(mode), places.output / "lab"
    scratch.mkdir(exist_ok=True)
    reading = scratch / "reading.json"
    lab = [sys.executable, "-m", "kadence.cli", "lab", "--kernel", kernel, "-o", str(reading)]
    lab += ["--mem", MEMORY]
    expected = _run(described, folder, scratch, [])
    written = _run(described, folder, scratch, [*lab, "--timeout", str(limit), "--"])
    return dict(artefact.read(reading, artefact.LAB)) | {"same": written == expected}


def _run(described: Program, folder: Path, scratch: Path, before: Sequence[str]) -> dict[str, str]:
    """Run the program; returns checksums of its outputs. `before` is the command that runs it."""
    outputs.remove(described, folder)
    with (
        (folder / (described.validate_input or "/dev/null")).open("rb") as stdin,
        (scratch / "stdout").open("wb") as stdout,
        (scratch / "stderr").open("wb") as stderr,
    ):
        subprocess.run(
            [*before, *(described.validate or described.profile)],
            cwd=folder,
            env=execution.environment(described.environment),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            check=True,
        )
    written = outputs.files(described, folder, scratch)
    return outputs.checksums(
        described, {name: path for name, path in written.items() if path.is_file()}
    )


def _table(names: Iterable[str], found: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    lines = [HEADINGS, *(row(*each) for each in zip(names, found, strict=True))]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    lines.insert(1, tuple("-" * width for width in widths))
    for line in lines:
        yield "  ".join(map(str.ljust, line, widths)).rstrip()


def row(name: str, found: Mapping[str, Any]) -> tuple[str, ...]:
    stock, plain, adapted = (found[f"{kernel} {mode}"] for kernel, mode in RUNS)
    same = [reading.get("same") for reading in (stock, plain, adapted)]
    faults = [str(reading.get("minor_faults", NOTHING)) for reading in (plain, adapted)]
    instructions = stock.get("instructions")
    return (
        name,
        f"{instructions / 1e6:,.0f}" if instructions else NOTHING,
        *(_ratio(plain, stock), _ratio(adapted, stock), _ratio(adapted, plain)),
        " -> ".join(faults),
        "same" if all(same) else "DIFFER" if False in same else NOTHING,
    )


def _ratio(reading: Mapping[str, Any], to: Mapping[str, Any]) -> str:
    pair = reading.get("instructions"), to.get("instructions")
    return f"{pair[0] / pair[1]:.4f}" if pair[0] and pair[1] else NOTHING


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KadenceError as error:
        sys.exit(f"corpus-lab: {error}")
