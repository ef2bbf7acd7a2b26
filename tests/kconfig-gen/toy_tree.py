# SPDX-License-Identifier: GPL-2.0-or-later
"""A toy kernel tree that configures with the real kconfig and fails on demand.

It defines every symbol that Kadence's rules ask for, so that the commands run unmodified. It
"compiles" in well under a second. A shell script, BEHAVIOUR, says what building its image does.
"""

import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kadence.kconfig.configuration import rules
from kadence.kconfig.request import series, targets

MAKEFILE = """\
VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 0
export KCONFIG_CONFIG = $(O)/.config
export CC
CONF = scripts/kconfig/conf
VMLINUX = $(O)/vmlinux
allnoconfig olddefconfig:
\t@echo "  CONF $@"; $(CONF) --$@ Kconfig
defconfig:
\t$(CONF) --defconfig=toy_defconfig Kconfig
kvm_guest.config:
\t@echo "  MERGE $@"
-include objects.mk
%.toy.o:
\t@echo "  CC      $@"
linux: vmlinux
\tcp $(VMLINUX) $(O)/linux
bzImage: vmlinux
\tmkdir -p $(O)/arch/x86/boot
\tgzip -n < $(VMLINUX) > $(O)/arch/x86/boot/bzImage
vmlinux: $(OBJECTS)
\t@echo "  CC      toy.o"
\tsh ./BEHAVIOUR $(O)
\tmkdir -p $(O)/include/config && echo 6.12.0-toy > $(O)/include/config/kernel.release
\tprintf 'int main(void) { return %d; }' $$(cksum < $(O)/.config | cut -c1-2) | \\
\t\tgcc-12 -x c - -o $(VMLINUX)
"""

DRIVER_KCONFIG = """\
config KADAPT
\tbool "Toy of the adaptation call"
config KADAPT_QUANTUM_MAX_MS
\tint "Longest quantum"
\tdepends on KADAPT
\trange 1 10000
\tdefault 100
"""

# The files that the recorded patches change; they stay as published, since nothing compiles them.
PATCHED = sorted(
    {
        name
        for patch in series.PATCHES.glob("*/*.patch")
        for name in re.findall(r"^--- a/(\S+)", patch.read_text(), re.MULTILINE)
    }
)

FAILURES = {
    "error": "echo 'toy.c:1:1: error: toys break'; exit 1",
    "space": "echo 'cc1: fatal error: write: No space left on device'; exit 1",
    "hang": "exec sleep 300",
}

# How the kernel's scripts/Kconfig.include refuses a compiler, with the same script.
WANTS_A_NEWER_COMPILER = """\
comma := ,
cc-info := $(shell,scripts/cc-version.sh $(CC))
$(error-if,$(shell,test -z "$(cc-info)" && echo y),Sorry$(comma) this C compiler is not supported.)
"""


@dataclass(frozen=True)
class Toy:
    """A tree, and the home folder with the driver that goes into it."""

    tree: Path
    home: Path
    built: Path  # a file that gets a line each time the tree's image is built

    def behave(self, script: str) -> None:
        """Set what building the image does from now on."""
        (self.tree / "BEHAVIOUR").write_text(f"echo once >> {self.built}\n{script}\n")

    def compile(self, files: int) -> None:
        """Set how many files besides toy.o go into the image from now on."""
        names = " ".join(f"{number}.toy.o" for number in range(files))
        (self.tree / "objects.mk").write_text(f"OBJECTS = {names}\n")

    def define(self, text: str) -> None:
        """Add Kconfig text; its symbols replace the plain definitions."""
        (self.tree / "Kconfig.more").write_text(text)
        given = set(re.findall(r"^(?:menu)?config (\w+)", text, re.MULTILINE))
        (self.tree / "Kconfig").write_text(_kconfig(given))

    def want_newer_compiler(self, pristine: Path) -> None:
        """Make the tree refuse the compiler, as a kernel of the year 2040 would."""
        shutil.copy2(pristine / "scripts/cc-version.sh", self.tree / "scripts")
        least = self.tree / "scripts/min-tool-version.sh"
        least.write_text("#!/bin/sh\necho 99.1.0\n")
        least.chmod(0o755)
        self.define(WANTS_A_NEWER_COMPILER)

    def times_built(self) -> int:
        return len(self.built.read_text().splitlines()) if self.built.exists() else 0


def build_conf(kconfig: Path, place: Path) -> Path:
    """The kernel's own `conf`, made from its sources in scripts/kconfig."""
    shutil.copytree(kconfig, place, dirs_exist_ok=True)
    for command in (
        ["bison", "-o", "parser.tab.c", "--defines=parser.tab.h", "-t", "-l", "parser.y"],
        ["flex", "-o", "lexer.lex.c", "-L", "lexer.l"],
    ):
        subprocess.run(command, cwd=place, check=True)
    makefile = (place / "Makefile").read_text()
    common = re.search(r"^common-objs\s*:=((?:.*\\\n)*.*)", makefile, re.MULTILINE)
    assert common is not None
    objects = common[1].replace("\\", " ").split()
    sources = [name.removesuffix(".o") + ".c" for name in [*objects, "conf.o"]]
    include = ["-I.", f"-I{kconfig.parent / 'include'}"]
    compile_it = ["gcc-12", "-O1", *include, "-o", "conf", *sources]
    subprocess.run(compile_it, cwd=place, check=True)
    return place / "conf"


def make_toy(place: Path, conf: Path, merge: Path) -> Toy:
    """Make a toy whose build succeeds."""
    toy = Toy(place / "tree", place / "home", place / "built")
    scripts = toy.tree / "scripts/kconfig"
    scripts.mkdir(parents=True)
    shutil.copy2(conf, scripts / "conf")
    shutil.copy2(merge, scripts / "merge_config.sh")
    for name in PATCHED:
        (toy.tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(merge.parents[2] / name, toy.tree / name)
    (toy.tree / "drivers/misc").mkdir(parents=True)
    (toy.tree / "drivers/misc/Kconfig").write_text('menu "Misc devices"\nendmenu\n')
    (toy.tree / "drivers/misc/Makefile").write_text("")
    (toy.tree / "Makefile").write_text(MAKEFILE)
    (toy.tree / "toy_defconfig").write_text("")
    toy.define("")
    toy.behave(":")
    _make_home(toy.home)
    return toy


def _make_home(home: Path) -> None:
    for folder in ("kadapt/driver", "kadapt/uapi", "boot"):
        (home / folder).mkdir(parents=True)
    (home / "kadapt/driver/Kconfig").write_text(DRIVER_KCONFIG)
    (home / "kadapt/driver/Kbuild").write_text("")
    (home / "kadapt/uapi/kadapt.h").write_text("")
    needs = 'HOSTFS = { value = "y", reason = "the root file system" }\n'
    for target in targets.known():
        (home / f"boot/needs-{target}.toml").write_text(f"[symbols]\n{needs}")


def _rule_symbols() -> Iterator[tuple[str, str]]:
    for path in sorted(rules.FOLDER.glob("*.toml")):
        for rule in tomllib.loads(path.read_text())["rule"]:
            plain = {name: value for name, value in rule["symbols"].items() if "{" not in name}
            yield from plain.items()


def _kconfig(given: set[str]) -> str:
    types = {"HOSTFS": "bool"}
    for symbol, value in _rule_symbols():
        number = value.isdigit() or symbol == "HZ"
        types[symbol] = "bool" if value in {"y", "n"} else "int" if number else "string"
    driver = {"KADAPT", "KADAPT_QUANTUM_MAX_MS"}
    plain = [
        f'config {symbol}\n\t{kind} "{symbol}"\n' + ("\tdefault 100\n" if kind == "int" else "")
        for symbol, kind in types.items()
        if symbol not in given | driver
    ]
    return (
        'mainmenu "Toy"\n'
        + "".join(plain)
        + ('source "Kconfig.more"\nsource "drivers/misc/Kconfig"\n')
    )
