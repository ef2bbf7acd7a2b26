# SPDX-License-Identifier: GPL-2.0-or-later
"""Toy kernels that need no booting: a program on a toy sees the kernel's configuration."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from known import Known, make

from kadence import boot
from kadence.base import codec, resources
from kadence.kconfig.request.needs import Needs
from kadence.kconfig.store.build import BuildRequest, build
from kadence.kconfig.tree import source
from kadence.kernel.proving import Subject
from kadence.kernel.tailoring import DEFAULT_BUDGET, Tailored, Tailoring
from kadence.measurement import execution
from kadence.measurement.measure import ADAPTED, PLAIN
from kadence.program.program import Program

HERE = Path(__file__).resolve().parent
TOY_TREE = HERE.parent / "kconfig-gen/toy_tree.py"

# Makes the helper modules in this folder importable.
sys.path.insert(0, str(HERE))


def _toy_tree() -> Any:
    """Import a module from another folder of tests, which is not a package."""
    spec = importlib.util.spec_from_file_location("kadence_toy_tree", TOY_TREE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


toy_tree = _toy_tree()


@pytest.fixture(scope="session")
def kernel_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kernel source of the default series, as Debian has it."""
    log = tmp_path_factory.mktemp("pristine") / "log"
    return source.pristine(source.origin(BuildRequest()), log)


@pytest.fixture(scope="session")
def conf(kernel_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kernel's own configuration program."""
    place = tmp_path_factory.mktemp("conf")
    return Path(toy_tree.build_conf(kernel_source / "scripts/kconfig", place))


@dataclass
class ToyGuests:
    """Runs commands here. $CONFIG is the kernel's configuration, $LOG becomes its log."""

    place: Path
    runs: list[Path] = field(default_factory=list)

    def run(self, request: boot.Request) -> boot.Result:
        self.runs.append(request.image)
        log = self.place / "log"
        log.write_text("")
        told = {"CONFIG": str(request.image.parent / "config"), "LOG": str(log)}
        completed = subprocess.run(
            request.argv,
            cwd=request.directory,
            env=dict(request.environment or {}) | told,
            stdin=request.stdin,
            stdout=request.stdout,
            stderr=request.stderr,
            check=False,
        )
        used = dict.fromkeys(boot.Result.__dataclass_fields__, 0)
        how = {"status": completed.returncode, "signal": None, "accelerator": "native"}
        return boot.Result(**(used | how | {"log": log.read_text()}))  # type: ignore[arg-type]


@dataclass
class Workshop:
    """A toy tree, and a program for which its kernels are tailored."""

    toy: Any
    place: Path
    guests: ToyGuests

    def tailoring(self, check: str, run: str = "echo same", **needs: Any) -> Tailoring:
        """The tailoring for a program whose check and run are shell scripts."""
        budget = needs.pop("budget", DEFAULT_BUDGET)
        overrides = needs.pop("overrides", ())
        folders = {mode: self.place / mode for mode in (PLAIN, ADAPTED)}
        for folder in folders.values():
            folder.mkdir(exist_ok=True)
            (folder / "check").write_text(f'[ -z "$CONFIG" ] && exit 0\n{check}\n')
            (folder / "run").write_text(f"{run}\n")
        program = Program(self.place, "p", "", ("sh", "run"), (), ("sh", "check"))
        request = BuildRequest(
            kind="tailored", plan=self.plan(**needs), source=self.toy.tree, overrides=overrides
        )
        return Tailoring(
            request=request,
            generic=build(BuildRequest(source=self.toy.tree)),
            subject=Subject(program, folders, self.place / "scratch", key="key"),
            budget=budget,
            command=["kadence"],
        )

    def tailored(self, check: str, run: str = "echo same", **options: Any) -> Tailored:
        return self.tailoring(check, run, **options).tailor()

    def plan(self, **needs: Any) -> Path:
        envelope = {"schema": "kadence.plan", "version": 6, "kadence": "0", "build_id": None}
        path = self.place / "p.plan.json"
        body = {"command": [], "program": ["x"], "needs": codec.encode(Needs()) | needs}
        path.write_text(json.dumps(envelope | body))
        return path


@pytest.fixture
def workshop(
    conf: Path, kernel_source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Workshop:
    """A workshop with its own KADENCE_HOME and KADENCE_CACHE."""
    merge = kernel_source / "scripts/kconfig/merge_config.sh"
    usage = resources.built("kadence/usage")
    toy = toy_tree.make_toy(tmp_path, conf, merge)
    (toy.home / "build").mkdir()
    (toy.home / "build/kadence").symlink_to(usage.parent)
    monkeypatch.setenv("KADENCE_HOME", str(toy.home))
    monkeypatch.setenv("KADENCE_CACHE", str(tmp_path / "cache"))
    guests = ToyGuests(tmp_path)
    monkeypatch.setattr(execution.boot, "run", guests.run)
    return Workshop(toy, tmp_path, guests)


@pytest.fixture
def options() -> Callable[..., str]:
    """Kconfig text of options that are on in the generic kernel and off in the smallest."""

    def text(*names: str) -> str:
        return "".join(f'config {name}\n\tbool "{name}"\n\tdefault y\n' for name in names)

    return text


@pytest.fixture(scope="session")
def known(tmp_path_factory: pytest.TempPathFactory) -> Known:
    """A program whose calls, page faults and waiting are known, and its phases."""
    return make(tmp_path_factory.mktemp("known"))
