# SPDX-License-Identifier: GPL-2.0-or-later
"""`make install` gives a Kadence that works where the checkout is not looked at."""

import subprocess
from pathlib import Path


def test_what_is_installed_profiles_and_finds_phases(root: Path, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    installed = subprocess.run(
        [root / "tools/install", prefix], capture_output=True, text=True, check=False
    )
    assert installed.returncode == 0, installed.stderr
    kadence = prefix / "bin/kadence"

    def run(*words: object) -> str:
        done = subprocess.run(
            [kadence, *map(str, words)], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("profile", "--interval", "100000", "-o", "P.kprof", "--", "/usr/bin/seq", "50000")
    assert "/usr/bin/seq" in run("profile", "show", "P.kprof")
    run("phases", "P.kprof", "-o", "P.phases.json")
    run("plan", "P.phases.json", "-o", "P.plan.json")
    assert (tmp_path / "P.plan.json").is_file()
