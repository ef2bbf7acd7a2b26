# SPDX-License-Identifier: GPL-2.0-or-later
"""A plan is refused for a program that it was not made for."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kadence.base import artefact
from kadence.base.errors import ArtefactError
from kadence.program.matching import require_same_program

Refused = Callable[[subprocess.CompletedProcess[str]], str]


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "heat.plan.json"
    artefact.write(path, artefact.PLAN, None, [], {"markers": [{"function": "diffuse"}]})
    return path


def build(root: Path, folder: Path, function: str) -> str:
    source = folder / f"{function}.c"
    source.write_text(f"void {function}(void) {{}}\nint main(void) {{ {function}(); return 0; }}\n")
    program = folder / function
    subprocess.run([root / "build/bin/kadence-cc", source, "-o", program], check=True)
    return str(program)


def test_the_program_itself_is_accepted(root: Path, tmp_path: Path, plan: Path) -> None:
    require_same_program(plan, build(root, tmp_path, "diffuse"))


def test_another_program_is_refused(root: Path, tmp_path: Path, plan: Path) -> None:
    with pytest.raises(ArtefactError, match=r"another program: .*none of the functions.*diffuse"):
        require_same_program(plan, build(root, tmp_path, "solve"))


@pytest.mark.parametrize("command", ["true", "no-such-program-anywhere"])
def test_what_tells_nothing_is_let_through(plan: Path, command: str) -> None:
    require_same_program(plan, command)


def test_the_command_refuses_it_in_one_sentence(
    root: Path,
    tmp_path: Path,
    plan: Path,
    kadence: Callable[..., subprocess.CompletedProcess[str]],
    refused: Refused,
) -> None:
    program = build(root, tmp_path, "solve")
    completed = kadence("run", "--kernel", "/bin/false", "--plan", plan, "--", program)
    assert "another program" in refused(completed)
