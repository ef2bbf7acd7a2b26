# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the example programs against independent answers."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kadence.program import program

Example = Callable[[str], Path]
NAMES = ("heat", "heat-openmp", "lu", "ring", "fft", "minimap2")


def run(command: Path, *arguments: object, cwd: Path | None = None) -> str:
    return subprocess.run(
        [command, *map(str, arguments)],
        cwd=cwd or command.parent,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def heat_by_numpy(cells: int, steps: int) -> np.ndarray:
    """The same scheme with whole-array operations."""
    plate = np.zeros((cells + 2, cells + 2))
    plate[cells // 8 + 1 : cells // 2 + 1, cells // 4 + 1 : cells // 2 + 1] = 100.0
    for _ in range(steps):
        inner = plate[1:-1, 1:-1]
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        inner += 0.2 * (around - 4.0 * inner)
    return plate


def test_heat_agrees_with_numpy_at_every_checkpoint(example: Example, tmp_path: Path) -> None:
    arguments = ["-n", 40, "-s", 30, "-e", 10, "-g", 3, "-o", tmp_path / "checkpoint"]
    output = run(example("heat"), *arguments)
    records = np.loadtxt(tmp_path / "checkpoint")
    sampled = np.arange(1, 41, 3)
    assert len(records) == 3 * len(sampled) ** 2
    for step in (10, 20, 30):
        of_step = records[records[:, 0] == step]
        rows, columns = np.meshgrid(sampled, sampled, indexing="ij")
        assert of_step[:, 1].tolist() == rows.ravel().tolist()
        assert of_step[:, 2].tolist() == columns.ravel().tolist()
        expected = heat_by_numpy(40, step)[rows.ravel(), columns.ravel()]
        np.testing.assert_allclose(of_step[:, 3], expected, rtol=1e-12, atol=1e-300)
    plate = heat_by_numpy(40, 30)
    values = [float(line.split()[-1]) for line in output.splitlines()]
    np.testing.assert_allclose(values, [30, plate.sum(), plate.max()], rtol=1e-12)


def test_heat_damps_the_fundamental_mode_by_the_known_factor(
    example: Example, tmp_path: Path
) -> None:
    arguments = ["-m", "-n", 63, "-s", 200, "-o", tmp_path / "checkpoint"]
    hottest = float(run(example("heat"), *arguments).split()[-1])
    factor = 1 - 8 * 0.2 * np.sin(np.pi / 128) ** 2
    assert hottest == pytest.approx(factor**200, rel=1e-12)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_heat_is_the_same_on_any_number_of_threads(
    threads: int, example: Example, tmp_path: Path
) -> None:
    arguments = ["-n", 65, "-s", 40, "-e", 10, "-g", 4, "-o"]
    alone = run(example("heat"), *arguments, tmp_path / "alone")
    shared = run(example("heat-openmp"), "-t", threads, *arguments, tmp_path / "shared")
    assert shared == alone
    assert (tmp_path / "shared").read_bytes() == (tmp_path / "alone").read_bytes()


def test_heat_writes_one_record_a_call(example: Example, tmp_path: Path) -> None:
    heat = example("heat")
    trace = tmp_path / "trace"
    arguments = ["-n", "16", "-s", "4", "-e", "2", "-g", "4", "-o", str(tmp_path / "checkpoint")]
    # Valgrind itself counts the calls, independently of Kadence.
    subprocess.run(
        ["valgrind", "--tool=none", "--trace-syscalls=yes", f"--log-file={trace}", heat]
        + arguments,
        capture_output=True,
        check=True,
    )
    calls = re.findall(r"sys_write \( (\d+),", trace.read_text(errors="replace"))
    assert sum(descriptor != "1" for descriptor in calls) == 2 * 4 * 4


def test_heat_pads_its_records(example: Example, tmp_path: Path) -> None:
    plain, padded = tmp_path / "plain", tmp_path / "padded"
    arguments = ["-n", 32, "-s", 4, "-e", 2]
    run(example("heat"), *arguments, "-o", plain)
    run(example("heat"), *arguments, "-r", 64, "-o", padded)
    lines = padded.read_text().splitlines(keepends=True)
    assert {len(line) for line in lines} == {64}
    assert [line.rstrip() for line in lines] == plain.read_text().splitlines()


def test_lu_finds_the_known_solution_and_a_small_residual(example: Example) -> None:
    lines = run(example("lu"), 120, 2).splitlines()
    assert len(lines) == 2
    for line in lines:
        _, _, _, residual, _, total = line.split()
        assert float(residual) < 16
        assert float(total) == pytest.approx(120, rel=1e-9)


def ring_sum(nodes: int, rounds: int, work: int) -> int:
    """The sum of every node's word of every round, which each node adds up."""
    total = 0
    for node in range(nodes):
        for number in range(rounds):
            state = (node << 32) | number
            for _ in range(work):
                state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            total += state
    return total % 2**64


@pytest.mark.parametrize("messages", [1, 7, 64])
def test_ring_sums_are_those_of_the_generator(example: Example, messages: int) -> None:
    output = run(example("ring"), 5, 3, messages, 100)
    expected = f"{ring_sum(5, 3, 100):016x}"
    assert output.splitlines() == [f"node {node} sum {expected}" for node in range(5)]


def test_ring_of_one_node_talks_to_itself_not_at_all(example: Example) -> None:
    assert run(example("ring"), 1, 2, 3, 10) == f"node 0 sum {ring_sum(1, 2, 10):016x}\n"


@pytest.mark.parametrize(("power", "steps"), [(5, 1), (5, 400), (11, 7), (16, 2)])
def test_fft_damps_every_mode_by_the_known_factor(power: int, steps: int, example: Example) -> None:
    heading, _ = run(example("fft"), "-n", power, "-s", steps).splitlines()
    modes = np.arange(1, 9)
    at_origin = np.sum(np.exp(-(modes**2) * steps * 1e-3) / modes)
    assert heading.startswith(f"points {2**power} steps {steps} first ")
    assert float(heading.split()[-1]) == pytest.approx(at_origin, rel=1e-11)


def test_fft_takes_its_arrays_from_malloc_and_frees_all(example: Example) -> None:
    # Each step makes two transforms of two arrays each; the first temperatures take one more array.
    # The C library never frees its buffer for standard output, so the frees do not include it.
    done = subprocess.run(
        ["valgrind", "--run-libc-freeres=no", example("fft"), "-n", "8", "-s", "5"],
        capture_output=True,
        text=True,
        check=True,
    )
    heap = re.search(r"total heap usage: (\d+) allocs, (\d+) frees", done.stderr)
    assert heap is not None
    arrays = 1 + 5 * 2 * 2
    assert [int(number) for number in heap.groups()] == [arrays + 1, arrays]


SMALL = {
    "heat": ["-s", 300, "-e", 100],
    "heat-openmp": ["-t", 3, "-s", 300, "-e", 100],
    "lu": [200, 2],
    "ring": [4, 4, 10, 1000],
    "fft": ["-n", 10, "-s", 3],
}


@pytest.mark.parametrize("name", SMALL)
def test_output_is_the_same_on_every_run(name: str, example: Example) -> None:
    command = example(name)
    described = program.read(Path(__file__).parents[2] / "examples" / name)
    seen = set()
    for _ in range(3):
        output = run(command, *SMALL[name])
        files = [(command.parent / file).read_bytes() for file in described.outputs]
        seen.add((output, *files))
    assert len(seen) == 1


@pytest.mark.parametrize("name", NAMES)
def test_every_example_is_described(name: str) -> None:
    described = program.read(Path(__file__).parents[2] / "examples" / name)
    assert described.name == name


@pytest.mark.parametrize("name", ["heat", "heat-openmp", "lu", "ring", "fft"])
def test_the_check_passes_and_notices_a_broken_program(
    name: str, example: Example, root: Path, tmp_path: Path
) -> None:
    described = program.read(root / "examples" / name)
    for file in (root / "examples" / name).iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / name).write_bytes(example(name).read_bytes())
    (tmp_path / name).chmod(0o755)
    assert subprocess.run(described.check, cwd=tmp_path, stdout=subprocess.DEVNULL).returncode == 0
    (tmp_path / name).write_text("#!/bin/sh\nexit 3\n")
    assert subprocess.run(described.check, cwd=tmp_path, stdout=subprocess.DEVNULL).returncode != 0


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("heat", ["-n", "0"]),
        ("heat", ["-n", "twelve"]),
        ("heat", ["-r", "129"]),
        ("heat", ["-o", "/nowhere/checkpoint"]),
        ("heat-openmp", ["-t", "two"]),
        ("heat-openmp", ["-t", "-2"]),
        ("heat-openmp", ["-t", "1025"]),
        ("lu", ["zero"]),
        ("lu", ["0"]),
        ("ring", ["-3"]),
        ("ring", ["4", "x"]),
        ("fft", ["-n", "4"]),
        ("fft", ["-n", "29"]),
        ("fft", ["-s", "1e3"]),
    ],
)
def test_bad_arguments_are_refused(name: str, arguments: list[str], example: Example) -> None:
    completed = subprocess.run(
        [example(name), *arguments], capture_output=True, text=True, check=False
    )
    assert completed.returncode == 1
    assert completed.stderr.startswith(f"{name}: ")


def test_the_read_generator_is_seeded_and_names_its_reads_by_origin(
    root: Path, tmp_path: Path
) -> None:
    generator = root / "examples/minimap2/generate.py"
    results = []
    for seed, place in (("1", "a"), ("1", "b"), ("2", "c")):
        (tmp_path / place).mkdir()
        subprocess.run(
            ["python3", generator, "--genome", "30000", "--reads", "20", "--seed", seed],
            cwd=tmp_path / place,
            check=True,
        )
        results.append([(tmp_path / place / name).read_bytes() for name in SETS])
    assert results[0] == results[1]
    assert results[0] != results[2]
    genome = results[0][0].decode().splitlines()[1]
    reads = results[0][1].decode().splitlines()
    assert len(genome) == 30000
    assert len(reads) == 40
    for name, sequence in zip(reads[::2], reads[1::2], strict=True):
        _, start, end, strand = name.split("_")
        origin = genome[int(start) : int(end)]
        if strand == "-":
            origin = origin[::-1].translate(str.maketrans("ACGT", "TGCA"))
        assert 0.9 * len(origin) < len(sequence) < 1.1 * len(origin)
        # A read of random bases would almost never share a 12-mer with its origin.
        shared = sum(sequence[at : at + 12] in origin for at in range(0, len(sequence) - 12, 12))
        assert shared > 0.2 * len(sequence) / 12


SETS = ("genome.fa", "reads.fa", "genome-small.fa", "reads-small.fa")
