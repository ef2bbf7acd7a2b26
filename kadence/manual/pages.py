# SPDX-License-Identifier: GPL-2.0-or-later
"""Manual pages in roff (man(7)): one for `kadence`, and one for each of its commands."""

from collections.abc import Iterator, Sequence

from kadence import cli
from kadence.base.version import VERSION
from kadence.manual.commands import Command, Option

DESCRIPTION = (
    "Kadence profiles a program, finds the phases of its run, has the compiler tell the kernel "
    "when each phase begins, builds the kernel that the program needs, and measures whether "
    "that pays."
)
FIRST = "kadence doctor"
STATUSES = (
    ("0", "success"),
    ("1", "an error, told in one sentence on standard error, or what a verb says of its own"),
    ("125", "a guest did not boot, hung or panicked"),
    ("126", "a command cannot be executed"),
    ("127", "a command is not there"),
    ("130", "interrupted"),
    ("other", "the status of the command that a verb ran"),
)
ENVIRONMENT = (
    ("KADENCE_CACHE", "the folder for kernels, sources and all that can be rebuilt"),
    ("KADENCE_HOME", "the tree with the built parts, if it is not that of the command"),
    ("NO_COLOR", "has no effect, because Kadence colours nothing"),
)


def overview(listed: Sequence[Command]) -> str:
    """The page of `kadence` itself."""
    rows = [(command.name.removeprefix("kadence "), command.summary) for command in listed]
    parts = [
        *_head("KADENCE", "kadence", "makes a Linux kernel fit one batch job"),
        *_synopsis(["kadence [-q | -v] VERB ..."]),
        *_section("DESCRIPTION", [DESCRIPTION, f"Begin with `{FIRST}`."]),
        *_table("VERBS", rows),
        *_table("OPTIONS", [(", ".join(names), told) for names, told in cli.COMMON]),
        *_ending([command.name.replace(" ", "-") for command in listed]),
    ]
    return "\n".join(parts) + "\n"


def page(command: Command) -> str:
    """The page of one command."""
    name = command.name.replace(" ", "-")
    parts = [
        *_head(name.upper(), name, command.summary),
        *_synopsis([command.usage]),
        *_table("OPERANDS", command.words),
        *_table("OPTIONS", [(_declared(option), option.help) for option in command.options]),
        *(_section("NOTES", [command.epilog]) if command.epilog else []),
        *_ending(["kadence"]),
    ]
    return "\n".join(parts) + "\n"


def _declared(option: Option) -> str:
    names = ", ".join(option.names)
    return f"{names} {option.takes}" if option.takes else names


def _head(title: str, name: str, summary: str) -> Iterator[str]:
    yield f'.TH "{_quoted(title)}" 1 "" "Kadence {VERSION}"'
    yield ".SH NAME"
    yield f"{_quoted(name)} \\- {_quoted(summary)}"


def _synopsis(usages: Sequence[str]) -> Iterator[str]:
    yield ".SH SYNOPSIS"
    for usage in usages:
        yield ".nh"
        yield f"\\fB{_quoted(usage.split(' ', 1)[0])}\\fR {_quoted(usage.split(' ', 1)[1])}"


def _section(title: str, paragraphs: Sequence[str]) -> Iterator[str]:
    yield f".SH {title}"
    for paragraph in paragraphs:
        yield ".PP"
        yield _quoted(paragraph)


def _table(title: str, rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    if rows:
        yield f".SH {title}"
    for key, told in rows:
        yield ".TP"
        yield f"\\fB{_quoted(key)}\\fR"
        yield _quoted(told) or "\\&"


def _ending(others: Sequence[str]) -> Iterator[str]:
    yield from _table("EXIT STATUS", STATUSES)
    yield from _table("ENVIRONMENT", ENVIRONMENT)
    yield ".SH SEE ALSO"
    yield ",\n".join(f".BR {_quoted(name)} (1)" for name in others)


def _quoted(text: str) -> str:
    """Text that roff prints as it is: no escapes, no requests, ASCII's hyphen and quotes."""
    one_line = " ".join(text.split())
    shown = one_line.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    shown = shown.replace("`", "\\(ga").replace("…", "...")
    return f"\\&{shown}" if shown.startswith(".") else shown
