# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/prose finds long sentences, and words that the glossary replaces."""

import subprocess
import sys
from pathlib import Path

import pytest


def said_of(root: Path, text: str, path: Path) -> list[str]:
    path.write_text(text)
    command = [sys.executable, root / "tools/prose", path]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = completed.stdout.splitlines()
    assert completed.returncode == bool(lines), completed
    return lines


def test_short_sentences_in_the_glossarys_words_are_no_complaint(
    root: Path, tmp_path: Path
) -> None:
    assert said_of(root, "A ring is drained. `userspace()` is code.\n", tmp_path / "a.md") == []


def test_a_long_sentence_is_one(root: Path, tmp_path: Path) -> None:
    (line,) = said_of(root, "Before. " + "word " * 36 + "end.\n", tmp_path / "a.md")
    assert ":1: 37 words: word" in line


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "The filesystem is full.\n"),
        ("a.py", '"""The Filesystems are full."""\n'),
        ("a.c", "/* The\n * filesystem is full. */\n"),
    ],
)
def test_a_word_that_the_glossary_replaces_is_one(
    root: Path, tmp_path: Path, name: str, text: str
) -> None:
    (line,) = said_of(root, text, tmp_path / name)
    assert "write file system" in line


def test_a_word_is_refused_only_in_its_folder(root: Path, tmp_path: Path) -> None:
    assert said_of(root, "The kitchen sink.\n", tmp_path / "a.md") == []
    completed = subprocess.run(
        [sys.executable, "-c", FIND], cwd=root, capture_output=True, text=True, check=True
    )
    assert completed.stdout == "True False\n"


FIND = """
import importlib.machinery, importlib.util, sys
loader = importlib.machinery.SourceFileLoader("prose", "tools/prose")
prose = importlib.util.module_from_spec(importlib.util.spec_from_loader("prose", loader))
sys.modules["prose"] = prose
loader.exec_module(prose)
(row,) = (row for row in prose._unwanted() if row.words.search("sink"))
print(row.is_for("kadapt/lib/ring/rings.c"), row.is_for("bench/lab/sink.c"))
"""
