"""A design on its way to an engine: MyHDL has simulated it, and the converter has exported it."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from merp.hdl.conversion.convert import Export, ExportError, Language, Port, convert
from merp.testbenches.block.trace import Trace, flatten, run_block
from side_by_side.design import Design
from side_by_side.stimuli import stimuli

Row = tuple[str, ...]
"""The bits of every output in a cycle."""


@dataclass(frozen=True)
class Job:
    """A design that was simulated in MyHDL and exported; its files are in a folder of its name."""

    name: str
    trace: Trace
    export: Export

    @property
    def inputs(self) -> tuple[Port, ...]:
        """The ports that are driven; the clock is none of them."""
        return tuple(port for port in self.export.ports if not port.is_output and port.name in self)

    @property
    def outputs(self) -> tuple[Port, ...]:
        """The ports that are compared."""
        return tuple(port for port in self.export.ports if port.is_output and port.name in self)

    @property
    def is_clocked(self) -> bool:
        """Whether the exported top has a clock."""
        return "clk" in self.export.inputs

    def __contains__(self, name: str) -> bool:
        """Whether the trace has a port."""
        return any(port.name == name for port in self.trace.ports)

    def rows(self, ports: Sequence[Port]) -> list[Row]:
        """The bits of some ports in every cycle, as MyHDL gives them."""
        columns = [self.trace.column(port.name) for port in ports]
        return [
            tuple(f"{value:0{port.width or 1}b}" for port, value in zip(ports, row, strict=True))
            for row in (zip(*columns, strict=True) if columns else [()] * len(self.trace.rows))
        ]


def exported(design: Design, language: Language, place: Path) -> Job | str:
    """Simulate a design in MyHDL and export it, or say why this is not possible."""
    trace = _traced(design)
    if isinstance(trace, str):
        return trace
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", ".* is written without generics", RuntimeWarning)
            export = convert(
                design.function, trace.args, language, place / design.name,
                name=design.name, prefix=f"{design.name}_",
            )  # fmt: skip
    except ExportError as error:
        return f"refused: {_one_line(error)}"
    except Exception as error:  # whatever it is, a user gets it in place of the HDL
        return f"invalid: the converter raises {type(error).__name__}: {_one_line(error)}"
    job = Job(design.name, trace, export)
    return job if job.outputs else "simulation: no output to compare"


@lru_cache(maxsize=512)  # both engines want it
def _traced(design: Design) -> Trace | str:
    """Simulate a design in MyHDL, or say what it raises."""
    try:
        args = design.make()
        drive = stimuli(flatten(args), design.inputs, design.seed)
        return run_block(design.function, args, design.inputs, drive, design.cycles)
    except Exception as error:
        return f"simulation: {type(error).__name__}: {_one_line(error)}"


def _one_line(error: object) -> str:
    return " ".join(str(error).split())[:300]
