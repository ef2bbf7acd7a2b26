# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the suite's own programs against independent answers; tests/examples has the others."""

import json
import os
import random
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Build = Callable[[str], Path]


def run(program: Path, *arguments: object, **environment: str) -> str:
    return subprocess.run(
        [program, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    ).stdout


def refused(program: Path, *arguments: object) -> str:
    done = subprocess.run(
        [program, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"{program.name}: ")
    return done.stderr


def test_fibonacci_numbers_are_those_of_the_iteration(suite_program: Build) -> None:
    before, last = 0, 1
    for n in range(26):
        assert run(suite_program("fibonacci"), n) == f"fibonacci {n} is {before}\n"
        before, last = last, before + last


# ---- conjugate gradients ---------------------------------------------------------------------


def known_solution(cells: int, system: int) -> list[float]:
    """The solution, by the generator of Park and Miller in integers."""
    modulus = 2**31 - 1
    state = 1 + system * 1000003 % (modulus - 1)
    found = []
    for _ in range(cells):
        state = state * 16807 % modulus
        found.append(state / modulus)
    return found


@pytest.mark.parametrize("edge", [1, 2, 5, 16])
def test_cg_finds_the_known_solution(edge: int, suite_program: Build) -> None:
    lines = run(suite_program("cg"), edge, 2).splitlines()
    assert len(lines) == 2
    for number, line in enumerate(lines, start=1):
        _, system, _, iterations, _, residual, _, error, _, total = line.split()
        assert int(system) == number
        # Exact arithmetic needs one step for each distinct eigenvalue; rounding adds a few.
        assert int(iterations) <= edge**3 + 3
        assert float(residual) <= 1e-10
        assert float(error) <= 1e-8
        known = sum(known_solution(edge**3, number))
        assert float(total) == pytest.approx(known, abs=1e-8 * edge**3)


def test_cg_gives_the_same_on_any_number_of_threads(suite_program: Build) -> None:
    outputs = {run(suite_program("cg"), 14, 2, OMP_NUM_THREADS=n) for n in ("1", "2", "3", "7")}
    assert len(outputs) == 1


# ---- water -----------------------------------------------------------------------------------


def energies(output: str) -> list[float]:
    return [float(found) for found in re.findall(r" energy (\S+)", output)]


def test_water_gives_the_same_on_any_number_of_threads(suite_program: Build) -> None:
    outputs = {
        run(suite_program("water"), "-n", 6, "-s", 6, "-d", 1e-4, "-t", n) for n in (1, 2, 3, 7)
    }
    assert len(outputs) == 1


def test_water_changes_its_energy_by_the_square_of_the_time_step(suite_program: Build) -> None:
    """Velocity Verlet must do so if the forces are exactly the gradient of the energy."""
    changes = []
    for parts in (2, 4, 8):
        output = run(suite_program("water"), "-n", 6, "-s", 12 * parts, "-d", 1e-3 / parts)
        first, *_, last = energies(output)
        changes.append(abs(last - first))
    assert changes[0] / changes[1] == pytest.approx(4, rel=0.1)
    assert changes[1] / changes[2] == pytest.approx(4, rel=0.1)


def test_water_notices_that_energy_is_lost(suite_program: Build) -> None:
    assert "energy changed" in refused(suite_program("water"), "-n", 6, "-s", 9, "-d", 1e-3)


# ---- parser ----------------------------------------------------------------------------------


def made_up(generator: random.Random, depth: int = 0) -> Any:
    kind = generator.randrange(8 if depth < 9 else 5)
    length = generator.randrange(6)
    if kind == 0:
        return generator.choice([None, True, False])
    if kind == 1:
        return generator.randrange(-(10**15), 10**15)
    if kind == 2:
        return generator.uniform(-1, 1) * 10.0 ** generator.randrange(-9, 300)
    if kind in (3, 4):
        return "".join(generator.choices('ab \n\t\\"/é€😀\x01', k=length))
    if kind == 5:
        return [made_up(generator, depth + 1) for _ in range(length)]
    return {f"{name}\n": made_up(generator, depth + 1) for name in range(length)}


def walk(value: Any, depth: int = 0) -> Iterator[tuple[Any, int]]:
    """Every value with its depth: the arrays and objects around it, itself included."""
    inner = depth + isinstance(value, list | dict)
    yield value, inner
    below = value.values() if isinstance(value, dict) else value
    for one in below if isinstance(value, list | dict) else ():
        yield from walk(one, inner)


def counts(document: Any) -> dict[str, float]:
    """What the parser must print, by Python's own reading."""
    found = [value for value, _ in walk(document)]
    texts = [value for value in found if isinstance(value, str)]
    keys = [key for value in found if isinstance(value, dict) for key in value]
    literals = [value for value in found if value is None or isinstance(value, bool)]
    numbers = [v for v in found if isinstance(v, int | float) and not isinstance(v, bool)]
    return {
        "objects": sum(isinstance(value, dict) for value in found),
        "arrays": sum(isinstance(value, list) for value in found),
        "strings": len(texts),
        # Characters are counted as UTF-16 units, as escapes write them.
        "characters": sum(len(text.encode("utf-16-le")) // 2 for text in [*texts, *keys]),
        "numbers": len(numbers),
        "literals": len(literals),
        "deepest": max(depth for _, depth in walk(document)),
        "total": sum(number for number in numbers if isinstance(number, int)),
        "largest": max([0, *numbers]),
    }


def parsed(output: str) -> dict[str, float]:
    pairs = (line.split() for line in output.splitlines())
    return {name: float(text) if name == "largest" else int(text) for name, text in pairs}


@pytest.mark.parametrize("seed", range(8))
def test_parser_counts_what_python_counts(seed: int, suite_program: Build, tmp_path: Path) -> None:
    generator = random.Random(seed)
    document = [made_up(generator) for _ in range(60)]
    text = json.dumps(document, indent=generator.choice([None, 1]))
    (tmp_path / "a.json").write_text(text)
    found = run(suite_program("parser"), tmp_path / "a.json")
    assert parsed(found) == counts(json.loads(text))


@pytest.mark.parametrize("seed", [1, 77])
def test_parser_finds_what_it_made_up(seed: int, suite_program: Build) -> None:
    found = parsed(run(suite_program("parser"), "-n", 3000, "-s", seed, "-r", 2))
    kinds = ("objects", "arrays", "strings", "numbers", "literals")
    assert sum(found[kind] for kind in kinds) >= 3000  # the made-up values and the list around them


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: a value"),
        ("[1,\n2,\n]", "line 3: a value"),
        ("[1 2]", "an array has no end"),
        ('{"a" 1}', "a colon"),
        ("{1: 2}", "a key"),
        ('{"a": 1', "an object has no end"),
        ('"abc', "a string has no end"),
        (r'"\x"', "an unknown escape"),
        (r'"\u12g4"', "lacks its digits"),
        ("01", "something follows"),
        ("1.e5", "a value"),
        ("nul", "a value"),
        ("[" * 100000, "nested too deeply"),
    ],
)
def test_parser_refuses_what_is_no_json(
    text: str, said: str, suite_program: Build, tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_text(text)
    assert said in refused(suite_program("parser"), tmp_path / "a.json")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("fibonacci", ["61"]),
        ("fibonacci", ["ten"]),
        ("cg", ["0"]),
        ("cg", ["5", "x"]),
        ("water", ["-n", "5"]),
        ("water", ["-t", "0"]),
        ("water", ["-d", "nan"]),
        ("parser", ["-n", "0"]),
        ("parser", ["/nowhere"]),
    ],
)
def test_suite_programs_refuse_bad_arguments(
    name: str, arguments: list[str], suite_program: Build
) -> None:
    refused(suite_program(name), *arguments)
