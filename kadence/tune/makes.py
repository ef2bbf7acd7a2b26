# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes what candidates run: builds of the program with other flags, the adapted one, kernels.

Flags reach a compiler only through the variables that makefiles and configure scripts read
(CFLAGS and others). They replace a makefile's default, so they begin with the options with which
the plain program was compiled, as its debug information tells them. If the debug information of the
new build tells the same options, the makefile sets its own, and the candidate is refused.

What it gets wrong: debug information has no -D and no -I. A default such as `CFLAGS ?= -O2 -DN=5`
loses its -D. The program then does not build or, at worst, is another one; its outputs decide.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from kadence.base import elf, resources
from kadence.base.errors import KadenceError
from kadence.base.stages import fingerprint
from kadence.kconfig.request.request import GENERIC, TAILORED
from kadence.kconfig.store.build import BuildRequest
from kadence.kconfig.store.build import build as build_kernel
from kadence.measurement.measure import ADAPTED, PLAIN
from kadence.prediction import tasks
from kadence.program import builds
from kadence.specialize.line import COMPILER_PARTS, Line
from kadence.tune.candidates import REFERENCE, Candidate
from kadence.tune.runs import Contestant, RefusedError

# Language, as a compilation unit's producer names it -> the variables that makefiles read.
VARIABLES = {
    "GNU C": ("CFLAGS",),
    "GNU C++": ("CXXFLAGS",),
    "GNU Fortran": ("FFLAGS", "FCFLAGS"),
}
USUAL = "-O2 -g"  # GCC's options where a program does not tell its own
TOLD = ("-O", "-f", "-m", "-std=")  # the options of code generation that are taken over
# What the wrapper and GCC itself add.
ADDED = (
    *("-fplugin", "-fasynchronous-unwind-tables", "-mtune=generic", "-march=x86-64", "-fltrans"),
    *("-fpre-include", "-fintrinsic-modules-path"),
)
LINK_TIME = "-flto"


@dataclass(frozen=True)
class Makes:
    """Makes contestants from the stages of one program."""

    line: Line
    source_key: str
    plan: Path | None
    plan_key: str

    @property
    def folder(self) -> Path:
        return self.line.places.output / "tune"

    def plain(self) -> Contestant:
        """The plain program on this machine's own kernel."""
        return Contestant(REFERENCE, self.line.places.build(PLAIN))

    def contestant(self, candidate: Candidate) -> Contestant:
        """Build what the candidate needs; raise RefusedError if that fails or changes nothing."""
        try:
            folder, image = self._build(candidate), self._image(candidate)
        except RefusedError:
            raise
        except KadenceError as error:
            raise RefusedError(error.reason) from error
        target = candidate.target
        count = tasks.of_plan(self.plan, target) if candidate.kernel else 1
        return Contestant(candidate, folder, image, count)

    def _build(self, candidate: Candidate) -> Path:
        adapted = candidate.program == ADAPTED and self.plan is not None
        if candidate.flags:
            return self._flagged(candidate, adapted)
        if not adapted:
            return self.line.places.build(PLAIN)
        if not self.line.adapted(self.source_key, self.plan_key):
            raise RefusedError(self.line.parts.left_out[-1].reason)
        return self.line.places.build(ADAPTED)

    def _flagged(self, candidate: Candidate, adapted: bool) -> Path:
        """The build with other flags, which several candidates may share."""
        variables = self.variables(candidate.flags)
        plan = self.plan if adapted else None
        key = hashlib.sha256(repr((sorted(variables.items()), adapted)).encode()).hexdigest()[:12]
        folder = self.folder / "builds" / key
        folder.parent.mkdir(parents=True, exist_ok=True)
        parts = [resources.built(part) for part in COMPILER_PARTS]
        title = re.sub("[^A-Za-z0-9=,.-]", "_", candidate.flags)
        self.line.stages.run(
            f"build {'adapted ' * adapted}{title}",
            [self.source_key, self.line.program.build, self.plan_key if adapted else ""]
            + [sorted(variables.items()), *map(fingerprint, parts)],
            [folder],
            partial(
                builds.build,
                self.line.program,
                self.line.places.source,
                folder,
                self.line.places.log(f"build-{key}"),
                plan,
                variables=variables,
            ),
        )
        if set(producers(folder)) == self._plain_producers:
            raise RefusedError(
                f"{' and '.join(sorted(variables))} of the environment do not reach the compiler: "
                "the program's own way of building sets them"
            )
        return folder

    @cached_property
    def _plain_producers(self) -> set[str]:
        return set(producers(self.line.places.build(PLAIN)))

    def variables(self, flags: str) -> dict[str, str]:
        """The variables for a build: the plain program's options, then these."""
        languages = {_language(producer) for producer in self._plain_producers} & set(VARIABLES)
        found = {
            variable: f"{own_options(self._plain_producers, language)} {flags}"
            for language, variables in VARIABLES.items()
            if language in languages or not languages
            for variable in variables
        }
        return found | ({"LDFLAGS": flags} if LINK_TIME in flags.split() else {})

    def _image(self, candidate: Candidate) -> Path | None:
        """The candidate's kernel, from the store or built now."""
        if candidate.kernel is None:
            return None
        return build_kernel(self.request(candidate)).image

    def request(self, candidate: Candidate) -> BuildRequest:
        """The request for the candidate's kernel: tailored if there is a plan."""
        wish = candidate.kernel
        assert wish is not None
        return BuildRequest(
            kind=TAILORED if self.plan else GENERIC,
            plan=self.plan,
            target=wish.target,
            series=wish.series,
            hz=wish.hz,
            mitigations=wish.mitigations and self.plan is not None,
            overrides=tuple(sorted(wish.set.items())),
        )


def own_options(found: set[str], language: str) -> str:
    """The options of code generation that all units of a language were compiled with."""
    told = [_options(producer) for producer in sorted(found) if _language(producer) == language]
    if not told:
        return USUAL
    common = [word for word in told[0] if all(word in each for each in told)]
    return " ".join(["-g", *dict.fromkeys(common)])


def _options(producer: str) -> list[str]:
    return [
        word for word in producer.split() if word.startswith(TOLD) and not word.startswith(ADDED)
    ]


def _language(producer: str) -> str:
    """`GNU C` of `GNU C17 12.2.0 -O2 …`."""
    maker, _, rest = producer.partition(" ")
    name = rest.partition(" ")[0].rstrip("0123456789")
    return f"{maker} {name}"


def producers(folder: Path) -> Iterator[str]:
    """The producers of all compilation units of all programs below a folder."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and elf.is_program(path):
            yield from _producers_of(path)


def _producers_of(path: Path) -> Iterator[str]:
    try:
        with path.open("rb") as file:
            opened = ELFFile(file)
            if opened.has_dwarf_info():
                for unit in opened.get_dwarf_info().iter_CUs():
                    told = unit.get_top_DIE().attributes.get("DW_AT_producer")
                    if told is not None:
                        yield told.value.decode("utf-8", "replace")
    except (ELFError, OSError, ValueError, KeyError, AttributeError):
        return  # a file that nobody can read tells no options
