# SPDX-License-Identifier: GPL-2.0-or-later
"""A stage is done again only when something that goes into it has changed."""

import os
from pathlib import Path

import pytest

from kadence.base import stages
from kadence.base.errors import ToolError
from kadence.base.stages import Stages, fingerprint
from kadence.program import builds
from kadence.program.program import Program


class Counter:
    """An action that makes its product and counts how often it was called."""

    def __init__(self, product: Path) -> None:
        self.product = product
        self.done = 0

    def __call__(self) -> None:
        self.done += 1
        self.product.write_text("made")


def test_a_stage_is_done_once(tmp_path: Path) -> None:
    action = Counter(tmp_path / "product")
    for _ in range(3):
        Stages(tmp_path).run("stage", ["a", 1], [action.product], action)
    assert action.done == 1


def test_changed_ingredients_or_lost_products_do_it_anew(tmp_path: Path) -> None:
    action = Counter(tmp_path / "product")
    kept = Stages(tmp_path)
    first = kept.run("stage", ["a"], [action.product], action)
    second = kept.run("stage", ["b"], [action.product], action)
    assert first != second
    action.product.unlink()
    kept.run("stage", ["b"], [action.product], action)
    Stages(tmp_path, again=True).run("stage", ["b"], [action.product], action)
    assert action.done == 4


def test_a_stage_that_failed_is_not_taken_for_done(tmp_path: Path) -> None:
    action = Counter(tmp_path / "product")
    kept = Stages(tmp_path)
    kept.run("stage", ["a"], [action.product], action)

    def fail() -> None:
        raise ToolError("no")

    with pytest.raises(ToolError):
        kept.run("stage", ["b"], [action.product], fail)
    kept.run("stage", ["a"], [action.product], action)
    assert action.done == 2


def test_a_fingerprint_sees_names_contents_modes_and_links(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "below").mkdir(parents=True)
    (folder / "below/file").write_text("1")
    (folder / "link").symlink_to("below/file")
    seen = {fingerprint(folder)}
    (folder / "below/file").write_text("2")
    seen.add(fingerprint(folder))
    (folder / "below/file").chmod(0o755)
    seen.add(fingerprint(folder))
    (folder / "below/file").rename(folder / "below/other")
    seen.add(fingerprint(folder))
    (folder / "link").unlink()
    (folder / "link").symlink_to("below/other")
    seen.add(fingerprint(folder))
    assert len(seen) == 5
    os.utime(folder / "below/other", (1, 1))
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/x.pyc").write_text("")
    assert fingerprint(folder) in seen
    (folder / "output").mkdir()
    (folder / "output/x").write_text("")
    assert fingerprint(folder) not in seen
    assert fingerprint(folder, leave_out=folder / "output") in seen


def program(folder: Path, **changes: str) -> Program:
    return Program(folder, "p", "true", ("./p",), ("./p",), ("./p",), **changes)  # type: ignore[arg-type]


def test_preparing_copies_runs_and_leaves_the_folder_alone(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file").write_text("1")
    output = folder / "output"
    output.mkdir()
    builds.prepare(
        program(folder, prepare="echo 2 >generated; echo said"),
        output / "source",
        output,
        tmp_path / "log",
    )
    assert sorted(entry.name for entry in (output / "source").iterdir()) == ["file", "generated"]
    assert sorted(entry.name for entry in folder.iterdir()) == ["file", "output"]
    assert (tmp_path / "log").read_text() == "said\n"


def test_a_missing_input_is_told(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    described = program(tmp_path / "folder", inputs=("reads.fa",))  # type: ignore[arg-type]
    with pytest.raises(ToolError, match=r"no reads\.fa"):
        builds.prepare(described, tmp_path / "source", tmp_path / "output", tmp_path / "log")


def test_a_failing_command_names_its_log(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    described = program(tmp_path / "folder", prepare="echo why >&2; exit 3")
    with pytest.raises(ToolError, match="ended with status 3") as caught:
        builds.prepare(described, tmp_path / "source", tmp_path / "output", tmp_path / "log")
    assert str(tmp_path / "log") in str(caught.value)
    assert (tmp_path / "log").read_text() == "why\n"


def test_file_hash_is_sha256(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert stages.file_hash(tmp_path / "empty").startswith(b"e3b0c44298fc1c149afbf4c8996fb924")
