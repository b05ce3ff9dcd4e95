"""Passes of a plan in the hardware: whatever its tiles, the layer's bits and the plan's bytes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marks import rows_in_full
from merp.cosim.machines.cnn_merp.passes.cut import Cut, PassPlace
from merp.cosim.machines.cnn_merp.passes.of_plan import OfPlan
from merp.cosim.machines.cnn_merp.passes.unit import PassUnit
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.initial import parameters
from merp.models.machines.cnn_merp.plan.engines import engine_of
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan
from merp.models.network.network_file import read_network
from merp.tools.common.boards import open_board
from merp.tools.common.input_maps import random_maps
from merp.tools.common.progress import Progress
from merp.tools.machines.cnn_merp.tiles.choice import TilesChoice
from merp.tools.machines.cnn_merp.tiles.draw import drawn
from merp.tools.machines.cnn_merp.tiles.report import answer
from merp.tools.machines.cnn_merp.tiles.result import TilesResult
from merp.tools.machines.cnn_merp.tiles.session import simulate_plan
from network_text import layer, max_pool, network_text

NETWORK = network_text(
    "small",
    (5, 5, 4),
    layer("conv1", 6, groups=2, kernel=2, pool=max_pool(2, 2), design="k2"),
    layer("conv2", 5, kernel=2, pad=1, design="k2"),
    layer("fc3", 6),
    layer("fc4", 4, relu=False),
    designs={"k2": {"k": 2, "n_cu": 2, "r": 1, "mul_latency": 1, "add_latency": 2}},
    format="bfloat16",
)

IMAGES = 2


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> NetworkPlan:
    """A plan of a pass for each group: the board has room."""
    file = tmp_path_factory.mktemp("network") / "small.toml"
    file.write_text(NETWORK)
    return plan(read_network(file, Path()), open_board("kc705"), IMAGES)


@pytest.fixture(scope="module")
def shaped(tmp_path_factory: pytest.TempPathFactory) -> NetworkPlan:
    """The same on units of 3 x 3, a layer with such kernels and another padding on each side."""
    file = tmp_path_factory.mktemp("network") / "small.toml"
    text = NETWORK.replace("k = 2\nn_cu", "k = 3\nn_cu")
    file.write_text(text.replace("kernel = 2\npad = 1", "kernel = 3\npad = [2, 0, 1, 2]"))
    return plan(read_network(file, Path()), open_board("kc705"), IMAGES)


def cut(whole: NetworkPlan, phase: str, seed: int) -> NetworkPlan:
    """The plan with tiles of any size in a phase, and the engine that they ask for."""
    rng = np.random.default_rng(seed)
    ours = [each for each in whole.layers if each.work.phase == phase]
    most = [(each.work.inputs, each.work.outputs) for each in ours]
    tiles = [tuple(int(rng.integers(1, max(2, maps))) for maps in pair) for pair in most]
    engine = engine_of("k2", [each.work for each in ours], tiles)  # type: ignore[arg-type]
    made = {
        each.work.layer.name: replace(each, tile=tile, engine=engine)
        for each, tile in zip(ours, tiles, strict=True)
    }
    layers = (
        made[each.work.layer.name] if each.work.phase == phase else each for each in whole.layers
    )
    return replace(whole, layers=tuple(layers))


def run(
    found: NetworkPlan,
    phase: str,
    sample: int | None = None,
    engine: str = "myhdl",
    layer: str | None = None,
) -> tuple[TilesChoice, list[TilesResult]]:
    network = found.network
    layers = network.layers if layer is None else (network.layer(layer),)
    array = "behavioural" if engine == "myhdl" else "rtl"
    choice = TilesChoice(found, False, layers, (phase,), sample, 0, engine, array)
    maps = random_maps(network, found.batch)
    return choice, simulate_plan(choice, maps, parameters(network, 0), None, Progress())


def built(results: list[TilesResult]) -> list[TilesResult]:
    return [result for result in results if result.planned.work.built]


SEEDS = [(phase, seed) for seed in range(9) for phase in ("fp", "dp", "ku")]
QUICK = ("fp", 1), ("dp", 1), ("ku", 1)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("phase", "seed"), [*QUICK, *rows_in_full(*(each for each in SEEDS if each not in QUICK))]
)
def test_passes_of_any_tiles_give_the_layers_bits_and_the_closed_form_of_every_port(
    whole: NetworkPlan, phase: str, seed: int
) -> None:
    choice, results = run(cut(whole, phase, seed), phase)
    cuts = [(result.planned.in_parts, result.planned.out_parts) for result in built(results)]
    assert any(min(parts) > 1 for parts in cuts)
    assert (phase, seed) not in QUICK or any(1 < ins < outs or 1 < outs < ins for ins, outs in cuts)
    for result in built(results):
        assert result.failures == []
        assert result.audit is not None
        assert result.audit.moved == dict(result.planned.ports)
        assert result.measured
    for one in answer(choice, results)["runs"]:
        assert one["passed"] is one["measured"] is one["hardware"]
        assert all(port["measured"] for port in one["bytes"].values())


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("phase", "seed"), [("fp", 0), ("dp", 0), ("ku", 0), *rows_in_full(*SEEDS[3:])]
)
def test_passes_of_smaller_kernels_and_padding_of_each_side(
    shaped: NetworkPlan, phase: str, seed: int
) -> None:
    found = cut(shaped, phase, seed)
    idle = {each.work.layer.name: each.work.idle_taps for each in found.layers}
    assert idle == {"conv1": 5, "conv2": 0, "fc3": 0, "fc4": 0}
    _, results = run(found, phase)
    assert all(result.measured for result in built(results))


@pytest.mark.verilator
@pytest.mark.full
@pytest.mark.parametrize("phase", ["fp", "dp", "ku"])
def test_verilog_in_passes_of_a_plan_gives_the_same(whole: NetworkPlan, phase: str) -> None:
    _, results = run(cut(whole, phase, 3), phase, engine="verilator")
    assert all(result.measured for result in built(results))


@pytest.mark.ghdl
@pytest.mark.full
def test_vhdl_in_passes_of_a_plan_gives_the_same(whole: NetworkPlan) -> None:
    _, results = run(cut(whole, "fp", 3), "fp", engine="ghdl")
    assert all(result.measured for result in built(results))


@pytest.mark.parametrize("phase", ["fp", "dp", "ku"])
def test_a_pass_by_itself_is_the_one_among_all(whole: NetworkPlan, phase: str) -> None:
    """Its golden sums are those that the passes in front of it leave, its words theirs."""
    found = cut(whole, phase, 0)
    network = found.network
    step = GoldenStep(network, network.layers, random_maps(network, IMAGES), parameters(network, 0))
    for planned in found.layers:
        if planned.work.phase != phase or not planned.work.built:
            continue
        tiles = OfPlan(planned).tiles(planned.work.layer.groups - 1, step)
        for outputs in range(planned.out_parts):
            row = tiles.row(outputs)
            each = next(row)
            for inputs in range(planned.in_parts):
                alone = tiles.alone(PassPlace(outputs, inputs))
                for stream, words in each.run.words.items():
                    assert np.array_equal(words, alone.run.words[stream]), stream
                assert each.run.config == alone.run.config
                for name, port in each.expected.ports.items():
                    assert np.array_equal(port.golden, alone.expected.ports[name].golden), name  # type: ignore[arg-type]
                if inputs + 1 < planned.in_parts:
                    each = row.send(played(each))


def played(each: Any) -> Any:
    """What a pass that does all it must leaves: its golden words."""

    class Golden:
        @staticmethod
        def array(stream: str, size: tuple[int, ...]) -> Any:
            for port in each.expected.ports.values():
                if port.stream == stream and port.golden is not None and port.golden.size:
                    return port.golden.reshape(size)
            return np.zeros(size, np.uint32)

    class Audited:
        record = Golden()

    return Audited()


def test_a_sample_says_of_no_port_that_it_is_measured(whole: NetworkPlan) -> None:
    choice, results = run(cut(whole, "fp", 1), "fp", sample=2, layer="conv1")
    found = answer(choice, results)
    assert found["tiles"] == "sample:2"
    some = [one for one in found["runs"] if one["passes"] > 2]
    assert some
    for one in some:
        assert one["passes_run"] == len(one["drawn"]) == 2
        assert one["passed"] is True
        assert one["measured"] is False
        assert not any(port["measured"] for port in one["bytes"].values())
        assert all(port["plan"] == port["pins"] for port in one["bytes"].values())


def test_a_sample_has_the_last_pass_and_none_twice(whole: NetworkPlan) -> None:
    planned = replace(whole.of("conv1", "fp"), tile=(1, 1))
    total = planned.passes
    assert total == 2 * 2 * 3
    last = PassUnit(1, 2, 1)
    seen = set()
    for seed in range(20):
        units = drawn(planned, 4, seed)
        assert len(set(units)) == 4
        assert units == sorted(units)
        assert units[-1] == last
        assert units == drawn(planned, 4, seed)
        seen |= set(units)
    assert len(seen) == total
    assert drawn(planned, 1, 5) == [last]
    whole_rows = [PassUnit(group, outputs) for group in range(2) for outputs in range(3)]
    assert drawn(planned, total, 0) == drawn(planned, None, 0) == whole_rows


def test_parts_are_of_the_sizes_that_were_asked_for() -> None:
    made = Cut.by_sizes(7, 21, (3, 2), 4)
    assert [len(part) for part in made.outputs] == [3, 3, 1]
    assert [len(part) for part in made.inputs] == [8, 8, 5]
    assert np.concatenate(made.inputs).tolist() == list(range(21))
    with pytest.raises(ValueError, match="at least 1"):
        Cut.by_sizes(7, 7, (0, 1))


def twice(of: Callable[..., Any]) -> Callable[..., Any]:
    """A formula that is wrong about one port."""

    def wrong(*arguments: Any) -> dict[str, int]:
        found = dict(of(*arguments))
        port = next(iter(found))
        return found | {port: 2 * found[port]}

    return wrong


def test_a_closed_form_that_the_pins_do_not_show_fails_the_run(
    whole: NetworkPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = cut(whole, "ku", 0)
    _, (good,) = run(found, "ku", layer="conv2")
    wrong = replace(good, planned=replace(good.planned))
    wrong.planned.__dict__["ports"] = twice(lambda: good.planned.ports)()
    assert good.measured
    assert not wrong.measured
    (said,) = wrong.failures
    assert "sum of all passes: port map_in: " in said
    monkeypatch.setattr(OfPlan, "bytes_of", twice(OfPlan.bytes_of))
    _, (bad,) = run(found, "ku", sample=2, layer="conv2")
    assert len(bad.failures) == 2
    assert "group 0 outputs 1 inputs 1: port map_in: " in bad.failures[-1]


def test_parts_that_do_not_give_the_layer_in_one_piece_fail_the_run(
    whole: NetworkPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = OfPlan.whole

    def other(self: OfPlan, *arguments: Any) -> dict[str, Any]:
        return {name: array ^ 1 for name, array in real(self, *arguments).items()}

    monkeypatch.setattr(OfPlan, "whole", other)
    _, (result,) = run(cut(whole, "ku", 0), "ku", layer="conv2")
    said = [f"group 0 outputs {part}: {name}" for part in (0, 1) for name in ("kernels", "biases")]
    wanted = [f"{each}: different from the layer in one piece" for each in said]
    assert result.failures == wanted
    assert not result.measured
