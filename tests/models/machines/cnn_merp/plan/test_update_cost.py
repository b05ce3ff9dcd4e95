"""The price of an update's kernels and biases beside the cycle model."""

from dataclasses import replace

import numpy as np
import pytest

from merp.models.base.shape import Shape
from merp.models.base.widened_shape import widened
from merp.models.machines.cnn_merp.cycles import update_cycles
from merp.models.machines.cnn_merp.params.design import PORTS
from merp.models.machines.cnn_merp.params.sizing import size_design
from merp.models.machines.cnn_merp.plan.cost import cost_of
from merp.models.machines.cnn_merp.plan.work import PhaseWork
from merp.models.machines.cnn_merp.update_flow import update_flow
from merp.models.network.network import Layer
from small_works import board_of


@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("kinds", [{}, {"cu_kind": "fused", "ku_kind": "row"}])
def test_an_update_takes_a_beat_for_its_kernels_and_a_cycle_for_each_bias(
    port: int, kinds: dict[str, str]
) -> None:
    """As the cycle model has it, which is the hardware's to the cycle."""

    def cycles(maps: int) -> tuple[float, int]:
        shape = Shape(n=8, m=maps, k=3, rows=6, columns=6)
        layer = Layer(name="conv1", kind="conv", shape=shape, design="d")
        design = size_design(
            [Shape(n=8, m=16, k=3, rows=6, columns=6)], n_cu=4, r=1, d=2, kernel_port=port, **kinds
        )
        work = PhaseWork(
            layer=layer, phase="ku", earlier=None, images=1, state="32", engine=design,
            folded=False, stored=layer,
        )  # fmt: skip
        yes = np.array([True])
        cost = cost_of(work, board_of(), np.array([8]), np.array([maps]), yes, yes)
        return float(cost.parameters[0]), update_flow(shape, 1, design).drain

    (few, drain), (many, longer) = cycles(8), cycles(16)
    assert many - few == longer - drain == 8 * 8 * 9 / port + 8


@pytest.mark.parametrize("kernel", [2, 3])
@pytest.mark.parametrize(
    ("kinds", "latency"), [({}, 120), ({"cu_kind": "fused", "ku_kind": "row"}, 160)]
)
def test_an_update_is_priced_as_the_cycle_model_walks_it(
    kernel: int, kinds: dict[str, str], latency: int
) -> None:
    """Of smaller kernels, too, whose missing taps it passes over; rows shorter than a kernel."""
    layer_shape = Shape(n=6, m=8, k=kernel, rows=kernel + 3, columns=kernel + 3)
    design = size_design([replace(layer_shape, k=3)], n_cu=4, r=1, d=2, max_images=8, **kinds)
    design = replace(design, kernel_words=12, max_size=8, widened=True)
    layer = Layer(name="conv1", kind="conv", shape=layer_shape, design="d")
    work = PhaseWork(
        layer=layer, phase="ku", earlier=None, images=8, state="1", engine=design, folded=False,
        stored=layer,
    )  # fmt: skip
    yes = np.array([True])
    cost = cost_of(work, board_of(), np.array([6]), np.array([8]), yes, yes)
    walked = update_cycles(layer_shape, 8, design).phase
    assert walked - latency < float(cost.total[0]) <= walked  # but for fill and drain


@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_an_update_of_smaller_kernels_takes_their_beats_or_reads(k: int, port: int) -> None:
    """As the cycle model has it, but for what the first and the last one wait for."""

    def cycles(maps: int) -> tuple[float, int]:
        shape = Shape(n=8, m=maps, k=k, rows=6, columns=6)
        room = Shape(n=8, m=16, k=4, rows=6, columns=6)
        design = size_design([room, widened(shape, 4)], n_cu=4, r=1, d=2, kernel_port=port)
        layer = Layer(name="conv1", kind="conv", shape=shape, design="d")
        work = PhaseWork(
            layer=layer, phase="ku", earlier=None, images=1, state="32",
            engine=replace(design, widened=True), folded=False, stored=layer,
        )  # fmt: skip
        yes = np.array([True])
        cost = cost_of(work, board_of(), np.array([8]), np.array([maps]), yes, yes)
        return float(cost.parameters[0]), update_flow(shape, 1, work.engine).drain

    (few, drain), (many, longer) = cycles(8), cycles(16)
    assert many - few == pytest.approx(longer - drain, abs=2)
