"""Ports of designs that the plan chooses: the best that fit, and that there is hardware for."""

from dataclasses import replace
from pathlib import Path

import pytest

from merp.models.base.errors import BadInput
from merp.models.base.formats import FloatFormat
from merp.models.base.shape import Shape
from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.params.design import PORTS
from merp.models.machines.cnn_merp.params.sizing import size_design
from merp.models.machines.cnn_merp.plan.automatic import ROOM, WORTH, with_ports
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan
from merp.models.machines.cnn_merp.plan.work import PhaseWork
from merp.models.network.network import Network
from merp.models.network.network_file import read_network
from merp.tools.common.boards import open_board
from network_text import layer, network_text

NETWORK = network_text(
    "wide",
    (7, 7, 9),
    layer("conv1", 20, kernel=3),
    layer("conv2", 24, kernel=3, pad=1),
)

IMAGES = 2


@pytest.fixture
def network(tmp_path: Path) -> Network:
    """Convolutions of few positions, whose kernels take as long to load as to use."""
    file = tmp_path / "wide.toml"
    file.write_text(NETWORK)
    return read_network(file, tmp_path)


def board_of(luts: int = 203_800, block_rams: int = 445) -> Board:
    """A board whose part is that large."""
    board = open_board("kc705")
    return replace(board, part=replace(board.part, luts=luts, block_rams=block_rams, dsps=80))


def figures(found: NetworkPlan) -> tuple[int, float, int]:
    """Bytes, seconds, and LUTs of the largest bitstream."""
    moved = sum(each.bytes for each in found.layers)
    return moved, found.computing, max(each.resources.lut for each in found.engines)


def ports_of(found: NetworkPlan) -> tuple[int, int]:
    """Those of its only design."""
    (design,) = found.network.designs.values()
    return design.kernel_port, design.map_port


def with_other_ports(found: NetworkPlan, ports: tuple[int, int]) -> NetworkPlan:
    """The plan of the same design with ports as given."""
    designs = {
        name: replace(design, kernel_port=ports[0], map_port=ports[1])
        for name, design in found.network.designs.items()
    }
    network = replace(found.network, designs=designs)
    return plan(network, found.board, found.batch, found.goal, found.state)


@pytest.mark.sample(7)
@pytest.mark.parametrize("state", ["pooled", "1"])
@pytest.mark.parametrize("goal", ["bytes", "time"])
@pytest.mark.parametrize("room", [(203_800, 445), (203_800, 38), (52_000, 445), (52_000, 20)])
def test_no_other_ports_are_better(
    network: Network, goal: str, state: str, room: tuple[int, int]
) -> None:
    found = plan(network, board_of(*room), IMAGES, goal, state)
    rivals = {}
    for ports in ((kernels, maps) for kernels in PORTS for maps in PORTS):
        try:
            other = with_other_ports(found, ports)
        except BadInput:
            continue
        fits = figures(other)[2] <= ROOM * room[0]
        if fits and all(each.work.built for each in other.layers):
            rivals[ports] = figures(other)
    assert (1, 1) in rivals
    moved, seconds, luts = rivals[ports_of(found)]
    if goal == "bytes":
        assert moved == min(bytes_ for bytes_, *_ in rivals.values())
        rivals = {ports: each for ports, each in rivals.items() if each[0] == moved}
    assert (1 - WORTH) * seconds <= min(each[1] for each in rivals.values())
    for _, other_seconds, other_luts in rivals.values():
        assert other_luts >= luts or (1 - WORTH) * other_seconds > min(
            each[1] for each in rivals.values()
        )


def test_wide_ports_are_chosen_where_there_is_room_for_them(network: Network) -> None:
    wide, narrow = (plan(network, board_of(luts), IMAGES) for luts in (203_800, 38_000))
    assert ports_of(wide)[0] == 8
    assert ports_of(narrow)[0] < 8
    assert wide.computing < with_other_ports(wide, (1, 1)).computing


def test_what_has_no_hardware_is_not_chosen(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work is asked, whatever it says."""
    monkeypatch.setattr(
        PhaseWork, "built", property(lambda work: work.engine.kernel_port in (1, 2))
    )
    assert ports_of(plan(network, board_of(), IMAGES))[0] == 2


def test_ports_that_are_not_worth_their_logic_stay_narrow(network: Network) -> None:
    """With many images the kernels are loaded once for so many slots."""
    assert ports_of(plan(network, board_of(), 2048)) == (1, 1)


def test_elements_that_are_not_whole_bytes_go_one_by_one() -> None:
    shapes = [Shape(n=1, m=1, k=3, rows=3, columns=3)]
    whole, odd = (
        size_design(shapes, n_cu=2, fmt=FloatFormat(8, frac_bits)) for frac_bits in (7, 8)
    )
    assert len(list(with_ports(whole))) == len(PORTS) ** 2
    assert list(with_ports(odd)) == [odd]
