"""Training on a device that loads several bitstreams, with the bits of the golden model."""

import json
from pathlib import Path
from typing import Any

import pytest
from device_script import train
from loading_step import loading_step
from simulated_hardware import loading_uio

import merp
from merp.cosim.board.driver import Board
from merp.cosim.board.step_file import bitstreams_in
from merp.cosim.board.system import System
from merp.models.base.errors import BadInput
from needed_tools import needs

ENGINES = "fp0", "dp0", "ku0"


class Counting(merp.SimulatedDevice):
    """A simulated device that notes its loads."""

    def reopen(self, board: Board, name: str, system: System) -> Board:
        """Load a bitstream."""
        LOADS.append(name)
        return super().reopen(board, name, system)


LOADS: list[str] = []


@pytest.mark.full
@pytest.mark.verilator
@needs("litedram")
@pytest.mark.parametrize("kind", ["simulated", "uio"])
def test_two_bitstreams_train_with_the_bits_of_golden(kind: str, tmp_path: Path) -> None:
    """Two steps: each stays on each bitstream once, and the last list loads the first one."""
    step = loading_step(tmp_path)
    content = json.loads(step.read_text())
    assert len(content["bitstreams"]) == 2
    wanted = [row["load"] for row in content["lists"] if row["load"]]
    LOADS.clear()
    uio = kind == "uio"
    device = loading_uio(tmp_path, step, LOADS.append) if uio else Counting(step=step)
    assert train(device) == train()
    assert wanted * 2 == LOADS


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, None),
        ({"loader": "icape2"}, "loader = 'icape2': allowed is 'host': the host loads bitstreams"),
        ({"bitstreams": 3}, "bitstreams[0]: allowed is bitstream = 'bitstream0' with a list of"),
        ({"bitstreams": [{"bitstream": "bitstream1", "engines": []}]}, "bitstreams[0]: allowed is"),
        (
            {"bitstreams": [{"bitstream": "bitstream0", "engines": ["fp0", "fp0", "ku0"]}]},
            "bitstreams: other engines than those of the step: allowed are, each once, fp0, dp0",
        ),
    ],
)
def test_a_file_of_another_step_is_refused(
    change: dict[str, Any], said: str | None, tmp_path: Path
) -> None:
    rows = [["fp0"], ["dp0", "ku0"]]
    bitstreams = [{"bitstream": f"bitstream{i}", "engines": some} for i, some in enumerate(rows)]
    path = tmp_path / "step.json"
    path.write_text(json.dumps({"loader": "host", "bitstreams": bitstreams} | change))
    if said is None:
        assert bitstreams_in(path, ENGINES) == {"bitstream0": ["fp0"], "bitstream1": ["dp0", "ku0"]}
        return
    with pytest.raises(BadInput) as complaint:
        bitstreams_in(path, ENGINES)
    assert str(complaint.value).startswith(f"{path}: {said}")
    assert "\n" not in str(complaint.value)


def test_a_file_that_is_no_step_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "layout.json"
    path.write_text("{}")
    with pytest.raises(BadInput, match=r"bitstreams is missing: allowed is step\.json"):
        bitstreams_in(path, ENGINES)
    path.write_text("[" * 100_000)
    with pytest.raises(BadInput, match=r"layout\.json: not JSON: "):
        bitstreams_in(path, ENGINES)
    with pytest.raises(BadInput, match="No such file"):
        bitstreams_in(tmp_path / "none.json", ENGINES)
