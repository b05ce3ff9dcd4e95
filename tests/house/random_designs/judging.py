"""The verdicts of ``side_by_side`` on random designs."""

import linecache
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from random_designs.source import Program
from side_by_side import Design, verdicts

CYCLES = 60


def judged(
    found: Sequence[Program], engine: str, folder: Path, names: Sequence[str] = ()
) -> list[str]:
    """The verdict on each program, of ``side_by_side.verdicts``.

    Args:
        found: the programs. engine: ``ghdl`` or ``verilator``.
        folder: where files are written; each call has one of its own.
        names: of the designs; ``d0`` and so on if there are none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    said: dict[str, str] = {}
    designs: list[Design] = []
    chosen = list(names) or [f"d{number}" for number in range(len(found))]
    for name, each in zip(chosen, found, strict=True):
        design = _imported(str(each), name, folder)
        if isinstance(design, Design):
            designs.append(design)
        else:
            said[name] = design
    said |= verdicts(designs, engine, folder)
    return [said[name] for name in chosen]


def _imported(source: str, name: str, folder: Path) -> Design | str:
    """The design of a module's source, or why there is none; MyHDL reads its file again later."""
    path = folder / f"{name}.py"
    path.write_text(source, encoding="ascii")
    linecache.cache.pop(str(path), None)
    module = ModuleType(f"random_design_{name}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # of what is made smaller
            exec(compile(source, str(path), "exec"), module.__dict__)
    except Exception as error:
        return f"simulation: {type(error).__name__}: {error}"
    return Design(name, module.top, module.make, module.INPUTS, CYCLES)
