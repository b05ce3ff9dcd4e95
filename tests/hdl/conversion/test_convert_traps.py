"""Designs that are easily converted wrong: the bits of their simulation, the same every time."""

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from block_bench import BlockBench, Replays
from merp.cosim.block.replay import lint_verilog
from merp.hdl.conversion.base.internals import name_of
from merp.hdl.conversion.convert import convert
from merp.testbenches.block.trace import flatten
from traps import DESIGNS, digest

_DIGEST = """
import sys
from pathlib import Path
from traps import digest
print(digest(Path(sys.argv[1])))
"""


@pytest.mark.ghdl
@pytest.mark.parametrize("name", DESIGNS)
def test_vhdl_has_the_bits_of_the_simulation(name: str, replays: Replays) -> None:
    function, make, inputs = DESIGNS[name]
    args = make()
    widths = {port: len(signal) or 1 for port, signal in flatten(args).items()}
    rng = random.Random(name)

    def drive(cycle: int, _seen: Any) -> dict[str, int]:
        values = {port: rng.getrandbits(widths[port]) for port in inputs}
        if "rst" in values:
            values["rst"] = int(cycle > 20 and rng.random() < 0.05)
        return values

    assert replays(BlockBench(function, **args).run(drive, 200)) == 200


@pytest.mark.verilator
@pytest.mark.parametrize("name", DESIGNS)
def test_verilog_passes_verilator(name: str, tmp_path: Path) -> None:
    function, make, _ = DESIGNS[name]
    lint_verilog(function, make(), tmp_path)


def test_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    digests = set()
    for seed in ("0", "1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", _DIGEST, str(tmp_path / seed)],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        digests.add(done.stdout)
    assert len(digests) == 1


def test_same_bytes_in_one_process_and_signals_untouched(tmp_path: Path) -> None:
    function, make, _ = DESIGNS["slices"]
    args = make()
    before = digest(tmp_path / "a")
    convert(function, args, "verilog", tmp_path / "v")
    assert digest(tmp_path / "b") == before
    for signal in flatten(args).values():
        assert (name_of(signal), signal.driven, signal.read) == (None, None, False)
