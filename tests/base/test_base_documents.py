# SPDX-License-Identifier: GPL-2.0-or-later
"""The Python interfaces that documents name exist."""

import importlib
import re
from pathlib import Path

import pytest

from kadence.base import artefact

INTERFACE = re.compile(r"`(kadence(?:\.[a-z_]+)+)(?:\([^`]*)?`")
FILES = {"kadence.toml", "kadence.module", "kadence.so", "kadence.conf", "kadence.ini"}
OTHERS = FILES | set(artefact.VERSIONS)


def interfaces(root: Path) -> list[str]:
    documents = [root / "README.md", *(root / "docs").glob("*.md")]
    named = {name for each in documents for name in INTERFACE.findall(each.read_text("utf-8"))}
    return sorted(named - OTHERS)


def test_interfaces_exist(root: Path) -> None:
    found = interfaces(root)
    assert "kadence.profiler.kprof.read" in found
    for name in found:
        module, _, attribute = name.rpartition(".")
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            assert hasattr(importlib.import_module(module), attribute), name


def test_a_name_that_is_gone_is_noticed() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("kadence.artefact")
