"""Traffic of a step on the memory bus by closed form: sums, causes, and the counters of a run."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from merp.cosim.board.accelerator import Accelerator
from merp.cosim.board.bus_ways import Crossing, Ways
from merp.cosim.board.play import Played
from merp.cosim.board.step_bus import StepBus, step_bus
from merp.cosim.board.step_plan import PlannedPass
from merp.cosim.machines.cnn_merp.training.board_step import BoardStep
from merp.cosim.machines.cnn_merp.training.whole_layers import WholeLayers
from merp.cosim.machines.loader import part_for
from merp.cosim.machines.mac_array.board_step import ArrayBoardStep
from merp.models.base.errors import BadInput
from merp.models.base.rates import PLAIN
from merp.models.golden.training import initial_model as initial_floats
from merp.models.golden.training import rates_of
from merp.models.machines.mac_array.fixed_training import FixedRates
from merp.models.machines.mac_array.fixed_training import initial_model as initial_words
from merp.models.network.network import Network
from merp.tools.common.input_maps import random_maps
from merp.tools.common.shipped import open_network
from needed_tools import needs
from terminal import Terminal

WIDE = 'base = "tiny3"\n[network]\nname = "wide"\n[design.k3]\nkernel_port = 4\n'


def found(network: Network, images: int) -> StepBus:
    """The traffic of a step by closed form."""
    return step_bus(part_for(network, "system")(network, images, momentum=False))


def wide(folder: Path) -> Network:
    """tiny3 with words of four kernels, so six biases have two free places behind them."""
    path = folder / "wide.toml"
    path.write_text(WIDE)
    return open_network(str(path))


@pytest.mark.parametrize(
    ("name", "images"), [("tiny3", 2), ("digits-bf16", 3), ("digits-fixed", 2), ("lenet5", 1)]
)
def test_the_traffic_of_a_list_is_the_formula_of_a_run(name: str, images: int) -> None:
    """``check_bus`` compares this formula with the counters of the bus."""
    step = found(open_network(name), images)
    for each in step.lists.values():
        formula, total = each.placed.formula, each.total
        assert total.read.bus == formula.read.useful + formula.read.wasted
        assert total.read.bus == total.read.beats * step.beat_bytes
        assert total.write.bus == formula.write.useful
        assert total.write.partial == 0
        for way, wanted in ((total.read, formula.read), (total.write, formula.write)):
            assert (way.beats, way.bursts) == (wanted.beats, sum(wanted.bursts.values()))


def test_ports_have_the_elements_of_the_parts() -> None:
    network = open_network("tiny3")
    plan = part_for(network, "system")(network, 2, momentum=False)
    for each in step_bus(plan).lists.values():
        for planned, ways in each.passes:
            pins = {pin.name: pin for pin in plan.tops[planned.engine].ports.streams}
            sizes = [
                part.walk.total * pins[stream].element // 8
                for stream, part in planned.parts.items()
            ]
            assert ways.both.ports == sum(sizes)
            assert ways.both.padding == 0, "elements of 8 and 32 bits, one in a word"


def test_free_places_of_a_last_word_are_padding(tmp_path: Path) -> None:
    """The six biases of conv2 take two words of four: 24 bytes in 32."""
    causes = Counter[tuple[str, str, str]]()
    for each in found(wide(tmp_path), 1).lists.values():
        for planned, ways in each.passes:
            causes[planned.layer, planned.phase, "read"] += ways.read.padding
            causes[planned.layer, planned.phase, "write"] += ways.write.padding
    assert +causes == {
        ("conv2", "fp", "read"): 8, ("conv2", "ku", "read"): 8, ("conv2", "ku", "write"): 8,
    }  # fmt: skip


def test_the_memory_is_as_wide_as_that_of_a_run() -> None:
    steps = [found(open_network(name), 1) for name in ("tiny3", "digits-fixed")]
    assert [(each.memory_bits, each.beat_bytes) for each in steps] == [(16, 16), (32, 32)]


def test_arrays_beyond_the_addresses_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    network = open_network("tiny3")
    plan = part_for(network, "system")(network, 1, momentum=False)
    monkeypatch.setattr("merp.cosim.board.step_bus.FIRST_ADDRESS", (1 << 32) - 64)
    with pytest.raises(BadInput, match=r"3904 bytes of arrays: allowed are the memory's 64"):
        step_bus(plan)


def test_sums_add_up_each_cause() -> None:
    one, other = Crossing(1, 2, 3, 4, 5), Crossing(10, 20, 30, 40, 50)
    assert one + other == Crossing(11, 22, 33, 44, 55)
    assert (one + other).bus == 66
    assert (Ways(read=one) + Ways(one, other)).both == Crossing(12, 24, 36, 48, 60)


Lists = list[tuple[list[PlannedPass], Played]]


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Lists:
    """The lists that accelerators play."""
    lists: Lists = []
    play = Accelerator.play

    def kept(self: Accelerator, name: str, passes: Any) -> Played:
        done = play(self, name, passes)
        lists.append((list(passes), done))
        return done

    monkeypatch.setattr(Accelerator, "play", kept)
    return lists


def compare(network: Network, answer: Any, lists: Lists) -> None:
    """Compare the answer of the verb with the counters of the bus and of the engines' pins."""
    for each, (_, done) in zip(answer["lists"], lists, strict=True):
        for way, bus in ((each["read"], done.bus.read), (each["write"], done.bus.write)):
            assert way["beats"] == bus.beats
            assert way["bursts"] == sum(bus.bursts.values())
            assert way["bus"] == bus.bytes
    plan = part_for(network, "system")(network, answer["batch"], momentum=False)
    pins, bus = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for passes, done in lists:
        for planned, seen in zip(passes, done.passes, strict=True):
            for pin in plan.tops[planned.engine].ports.streams:
                key = planned.layer, planned.phase
                pins[key] += seen.moves[pin.name].words * pin.element // 8
                bus[key] += seen.crossed[pin.name] * pin.element // 8
    told = {
        (layer["name"], phase): layer[phase]["ports"]
        for layer in answer["layers"]
        for phase in ("fp", "dp", "ku")
        if layer[phase] is not None
    }
    assert told == pins == bus
    assert answer["total"]["bus"] == sum(
        each.bus.read.bytes + each.bus.write.bytes for _, each in lists
    )


@pytest.mark.full
@needs("litedram")
@pytest.mark.verilator
@pytest.mark.parametrize("words", ["narrow", "wide"])
def test_a_step_of_tiny3_moves_what_the_verb_prints(
    words: str, tmp_path: Path, terminal: Terminal, played: Lists
) -> None:
    network = wide(tmp_path) if words == "wide" else open_network("tiny3")
    name = tmp_path / "wide.toml" if words == "wide" else "tiny3"
    step = BoardStep(WholeLayers(network, 2), 2, PLAIN)
    rates = rates_of(0.01, 2, network.fmt)
    step.step(initial_floats(network, 0), random_maps(network, 2), np.array([1, 2]), rates)
    answer = terminal.answer("traffic", name, "--count", "bus", "--batch", 2)
    compare(network, answer, played)


@pytest.mark.full
@needs("litedram")
@pytest.mark.verilator
def test_a_step_of_the_mac_array_moves_what_the_verb_prints(
    terminal: Terminal, played: Lists
) -> None:
    network = open_network("digits-fixed")
    step = ArrayBoardStep(network, 2, "hinge", momentum=False, begin=lambda _: None)
    images = np.random.default_rng(1).integers(0, 4096, (2, 8, 8, 1)).astype(np.int16)
    rates = FixedRates(rate=0.01, momentum=0.0, seed=0, step=0)
    step.step(initial_words(network, 0), images, np.array([3, 4]), rates)
    answer = terminal.answer("traffic", "digits-fixed", "--count", "bus", "--batch", 2)
    compare(network, answer, played)
