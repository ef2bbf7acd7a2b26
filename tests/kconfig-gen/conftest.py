# SPDX-License-Identifier: GPL-2.0-or-later
"""Toy kernel trees with their own store, and plans."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence.kconfig.store.build import BuildRequest
from kadence.kconfig.tree import source

HERE = Path(__file__).resolve().parent


def _load(name: str) -> Any:
    """Import a module beside this file; the folder is not a package."""
    spec = importlib.util.spec_from_file_location(f"kconfig_{name}", HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


toy_tree = _load("toy_tree")


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kernel source of the default series, as Debian has it."""
    log = tmp_path_factory.mktemp("pristine") / "log"
    return source.pristine(source.origin(BuildRequest()), log)


@pytest.fixture(scope="session")
def conf(pristine: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kernel's own configuration program."""
    return Path(toy_tree.build_conf(pristine / "scripts/kconfig", tmp_path_factory.mktemp("conf")))


@pytest.fixture
def toy(conf: Path, pristine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A toy kernel tree, with its own KADENCE_HOME and KADENCE_CACHE."""
    made = toy_tree.make_toy(tmp_path, conf, pristine / "scripts/kconfig/merge_config.sh")
    monkeypatch.setenv("KADENCE_HOME", str(made.home))
    monkeypatch.setenv("KADENCE_CACHE", str(tmp_path / "cache"))
    return made


@pytest.fixture
def toy_failures() -> dict[str, str]:
    """The values of a toy's BEHAVIOUR that make its build fail."""
    return dict(toy_tree.FAILURES)


@pytest.fixture
def write_plan(tmp_path: Path, make_plan: Callable[..., Path]) -> Callable[..., Path]:
    """Write a plan whose program needs what the keywords say."""

    def write(path: Path | None = None, **needs: Any) -> Path:
        return make_plan(path or tmp_path / "p.plan.json", **needs)

    return write
