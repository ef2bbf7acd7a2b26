# SPDX-License-Identifier: GPL-2.0-or-later
"""A program's builds: plain, and laid out by what it counted itself on its profiled input."""

import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from bench.base.commands import KADENCE
from kadence.base.errors import ToolError
from kadence.program import builds
from kadence.program.program import Program

PLAIN, LAID_OUT = "plain", "laid-out"


class Builds:
    """The builds of one program, in a folder of its own."""

    def __init__(self, described: Program, place: Path) -> None:
        self.program = described
        self.place = place
        self.place.mkdir(parents=True, exist_ok=True)
        self.log = self.place / "log"
        self.log.write_text("")
        self.source = self.place / "source"
        builds.prepare(described, self.source, self.place, self.log)

    def plain(self) -> Path:
        """The folder of the plain build."""
        return self.built(PLAIN, None)

    def laid_out(self) -> tuple[Path, float]:
        """The folder of the build that is laid out, and the seconds of the run that counted."""
        counted = self.built("counted", None, {"KADENCE_MODE": "profile"})
        plan, seconds = self._planned(counted)
        return self.built(LAID_OUT, plan), seconds

    def built(
        self,
        name: str,
        plan: Path | None,
        variables: Mapping[str, str] | None = None,
        flags: str = "",
    ) -> Path:
        """Build in the folder `name`."""
        folder = self.place / name
        builds.build(self.program, self.source, folder, self.log, plan, flags, variables)
        return folder

    def trained(self, folder: Path, *before: str) -> float:
        """The time of the run on the profiled input."""
        given = self.program.profile_input
        began = time.monotonic()
        with (folder / given if given else Path("/dev/null")).open("rb") as stream:
            ended = subprocess.run(
                [*before, *self.program.profile], cwd=folder, stdin=stream, capture_output=True
            )
        if ended.returncode:
            raise ToolError(f"the training of {self.program.name} failed: {ended.stderr[-300:]!r}")
        return time.monotonic() - began

    def _planned(self, counted: Path) -> tuple[Path, float]:
        profile, phases, plan = (
            self.place / f"program.{kind}" for kind in ("kprof", "phases.json", "plan.json")
        )
        seconds = self.trained(counted, str(KADENCE), "profile", "-o", str(profile), "--")
        self._kadence("phases", profile, "-o", phases)
        self._kadence("plan", phases, "--layout", profile, "-o", plan)
        return plan, seconds

    def _kadence(self, *words: object) -> None:
        ended = subprocess.run(
            [KADENCE, *map(str, words)], capture_output=True, text=True, cwd=self.place
        )
        if ended.returncode:
            raise ToolError(ended.stderr)
