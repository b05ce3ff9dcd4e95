"""The comparison of many designs: each one in MyHDL, and all of them in an engine."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from merp.hdl.conversion.convert import Language
from side_by_side.design import Design
from side_by_side.ghdl import Ghdl
from side_by_side.job import Job, exported
from side_by_side.verilator import Verilator

LANGUAGES: dict[str, Language] = {"ghdl": "vhdl", "verilator": "verilog"}


def verdicts(designs: Sequence[Design], engine: str, folder: Path) -> dict[str, str]:
    """Compare each design in MyHDL with what an engine makes of its HDL; the verdicts by name.

    Args:
        designs: in any number; a few hundred are a good batch.
        engine: ``ghdl`` simulates the VHDL, ``verilator`` the Verilog.
        folder: where files are written; what an earlier call left there goes.

    Raises:
        ValueError: two designs have the same name.
    """
    if len({design.name.lower() for design in designs}) < len(designs):
        raise ValueError("two designs have the same name")
    found: dict[str, str] = {}
    jobs: list[Job] = []
    place = folder / engine
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for design in designs:
        job = exported(design, LANGUAGES[engine], place)
        if isinstance(job, Job):
            jobs.append(job)
        else:
            found[design.name] = job
    found |= (Ghdl if engine == "ghdl" else Verilator)(place).verdicts(jobs)
    return {design.name: found[design.name] for design in designs}
