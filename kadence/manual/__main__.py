# SPDX-License-Identifier: GPL-2.0-or-later
"""Write all manual pages and completions below a prefix: `python -m kadence.manual PREFIX`."""

import sys
from pathlib import Path

from kadence.manual import completion, pages
from kadence.manual.commands import commands

# Where each shell looks.
COMPLETIONS = {
    "bash": "share/bash-completion/completions/kadence",
    "zsh": "share/zsh/vendor-completions/_kadence",
    "fish": "share/fish/vendor_completions.d/kadence.fish",
}


def main(prefix: Path) -> None:
    listed = list(commands())
    files = {f"share/man/man1/{command.name.replace(' ', '-')}.1": pages.page(command)
             for command in listed}  # fmt: skip
    files["share/man/man1/kadence.1"] = pages.overview(listed)
    files |= {place: completion.script(shell, listed) for shell, place in COMPLETIONS.items()}
    for place, text in files.items():
        path = prefix / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
