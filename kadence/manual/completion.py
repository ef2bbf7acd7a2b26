# SPDX-License-Identifier: GPL-2.0-or-later
"""Completions for bash, zsh and fish, from one table of what may follow each command."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from kadence import cli
from kadence.manual.commands import Command

BASH = """\
# Completion of kadence for bash, printed by `kadence completion bash`.
_kadence()
{
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local command=kadence known place words=""
	for ((place = 1; place < COMP_CWORD; place++)); do
		[ "${COMP_WORDS[place]}" != -- ] || return
		known="$command ${COMP_WORDS[place]}"
		case $known in
		@KNOWN@) command=$known ;;
		esac
	done
	case "$command $previous" in
@VALUES@
	*)
		case $command in
@WORDS@
		esac
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -o bashdefault -F _kadence kadence
"""

ZSH = """\
#compdef kadence
# Completion of kadence for zsh, printed by `kadence completion zsh`.
_kadence()
{
	local command=kadence known place
	local -a follow
	for ((place = 2; place < CURRENT; place++)); do
		[[ ${words[place]} != -- ]] || { _files; return }
		known="$command ${words[place]}"
		case $known in
		@KNOWN@) command=$known ;;
		esac
	done
	case "$command ${words[CURRENT - 1]}" in
@VALUES@
	*)
		case $command in
@WORDS@
		esac
		;;
	esac
	(( $#follow )) && _describe kadence follow
	_files
}
_kadence "$@"
"""

FISH = """\
# Completion of kadence for fish, printed by `kadence completion fish`.
function __kadence_command
    set --local command kadence
    for word in (commandline -opc)[2..]
        test "$word" = -- && break
        switch "$command $word"
            case @KNOWN@
                set command "$command $word"
        end
    end
    test "$command" = "$argv"
end
@LINES@
"""


@dataclass
class Follow:
    """What may follow a command: words with a description each, and options' values."""

    words: list[tuple[str, str]] = field(default_factory=list)
    values: dict[str, Sequence[str]] = field(default_factory=dict)


def script(shell: str, listed: Sequence[Command]) -> str:
    """The completion for this shell."""
    return SHELLS[shell](_table(listed))


def _table(listed: Sequence[Command]) -> dict[str, Follow]:
    common = [(name, told) for names, told in cli.COMMON for name in names]
    table = {"kadence": Follow(list(common))}
    for command in listed:
        path = command.name.split(" ")
        for depth in range(2, len(path) + 1):
            before, name = " ".join(path[: depth - 1]), " ".join(path[:depth])
            summary = command.summary if depth == len(path) else cli.VERBS.get(path[1], "")
            follow = table.setdefault(before, Follow())
            if path[depth - 1] not in dict(follow.words):
                follow.words.append((path[depth - 1], summary))
            table.setdefault(name, Follow())
        own = table[command.name]
        for option in command.options:
            own.words += [(name, option.help) for name in option.names]
            own.values |= {name: option.choices for name in option.names if option.choices}
    return table


def _known(table: Mapping[str, Follow], between: str) -> str:
    return between.join(f'"{name}"' for name in table if name != "kadence")


def _cases(
    table: Mapping[str, Follow], name: str, listed: Callable[[Sequence[tuple[str, str]]], str]
) -> dict[str, list[str]]:
    """Rows of a shell's `case` that set the variable `name` to what may follow."""
    values = [
        f'\t"{command} {option}") {name}={listed([(choice, "") for choice in choices])} ;;'
        for command, follow in table.items()
        for option, choices in follow.values.items()
    ]
    words = [
        f'\t\t"{command}") {name}={listed(follow.words)} ;;' for command, follow in table.items()
    ]
    return {"VALUES": values, "WORDS": words}


def _bash(table: Mapping[str, Follow]) -> str:
    def listed(words: Sequence[tuple[str, str]]) -> str:
        return f'"{" ".join(word for word, _ in words)}"'

    return _filled(BASH, KNOWN=_known(table, " | "), **_cases(table, "words", listed))


def _zsh(table: Mapping[str, Follow]) -> str:
    def entry(word: str, told: str) -> str:
        return shlex.quote(f"{word.replace(':', chr(92) + ':')}:{told}" if told else word)

    def listed(words: Sequence[tuple[str, str]]) -> str:
        return f"({' '.join(entry(*each) for each in words)})"

    return _filled(ZSH, KNOWN=_known(table, " | "), **_cases(table, "follow", listed))


def _fish(table: Mapping[str, Follow]) -> str:
    lines = []
    for command, follow in table.items():
        start = f"complete -c kadence -n '__kadence_command {command}'"
        for word, told in follow.words:
            values = follow.values.get(word)
            more = f" -x -a {shlex.quote(' '.join(values))}" if values else ""
            lines.append(f"{start} {_fish_word(word)} -d {shlex.quote(told)}{more}")
    return _filled(FISH, KNOWN=_known(table, " "), LINES=lines)


def _fish_word(word: str) -> str:
    if word.startswith("--"):
        return f"-l {word.removeprefix('--')}"
    return f"-s {word.removeprefix('-')}" if word.startswith("-") else f"-f -a {word}"


def _filled(text: str, **parts: str | Sequence[str]) -> str:
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part if isinstance(part, str) else "\n".join(part))
    return text


SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
