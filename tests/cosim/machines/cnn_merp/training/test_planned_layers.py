"""Training in the passes of a plan, whatever its tiles: the golden's bits, step by step."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from marks import in_full, rows_in_full
from merp.cosim.machines.cnn_merp.training.planned_layers import PlannedLayers
from merp.cosim.machines.training.hardware_step import HardwareStep
from merp.models.arithmetic.words import to_bits
from merp.models.base.errors import BadInput
from merp.models.golden.in_memory import pair_in_memory
from merp.models.golden.training import initial_model, rates_of, train_step
from merp.models.machines.cnn_merp.phases import delta_design
from merp.models.machines.cnn_merp.plan.engines import engine_of
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan, PlannedPhase
from merp.models.machines.cnn_merp.plan.words import with_velocities
from merp.models.machines.cnn_merp.reconfiguration import UPDATING
from merp.models.network.network_file import read_network
from merp.tools.common.boards import open_board
from network_text import layer, max_pool, network_text

# Groups, pooling, windows that hang over, a border, and two fully connected layers, folded.
NETWORK = network_text(
    "small",
    (4, 4, 4),
    layer("conv1", 6, groups=2, kernel=2, pool=max_pool(2, 1), design="k2"),
    layer(
        "conv2", 9, kernel=2, pad=1, pool=max_pool(3, 2, pad=[1, 0, 0, 0], ceil=True), design="k2"
    ),
    layer("fc3", 6),
    layer("fc4", 3, relu=False),
    designs={"k2": {"k": 2, "n_cu": 2, "r": 1, "mul_latency": 1, "add_latency": 2}},
)

# What is added was pooled by a maximum, or is by an average, comes from two groups, is only added
# (conv5), is left by the layer beside (conv4 starts at it), or is folded.
BRANCHED = network_text(
    "branched",
    (5, 5, 2),
    layer("conv1", 4, kernel=2, design="k2"),
    layer("conv2", 4, groups=2, kernel=1, design="k2"),
    layer("conv3", 4, kernel=1, add="conv1", pool=max_pool(2, 2), design="k2"),
    layer("conv4", 6, kernel=2, pad=1, design="k2"),
    layer("conv5", 6, input="conv3", kernel=2, pad=1, relu=False, design="k2"),
    layer(
        "conv6",
        6,
        input="conv4",
        kernel=1,
        add="conv5",
        pool={"kind": "average", "window": 3},
        design="k2",
    ),
    layer("fc7", 6, design="k2"),
    layer("fc8", 5, design="k2"),
    layer("fc9", 6, add="fc7", design="k2"),
    layer("fc10", 3, relu=False, design="k2"),
    designs={"k2": {"k": 2, "n_cu": 2, "r": 1, "mul_latency": 1, "add_latency": 2}},
)

# fc2 takes each element of conv1's maps as a map of its own, and starts at the delta of conv3.
FLATTENED = network_text(
    "flattened",
    (4, 4, 1),
    layer("conv1", 2, kernel=1, design="k4"),
    layer("fc2", 3, design="k4"),
    layer("conv3", 2, kernel=4, pad=3, add="conv1", design="k4"),
    layer("fc4", 3, relu=False, design="k4"),
    designs={"k4": {"k": 4, "n_cu": 2, "r": 1}},
)

FUSED = 'cu_kind = "fused"\nku_kind = "row"\nku_lanes = 2\naccumulator_precision = 28\n'
PHASES = ("fp", "dp", "ku")
IMAGES = 2


WIDE = "map_port = 4\n"
NARROW = """
[network.storage]
maps = "bfloat16"
deltas = "bfloat16"
kernels = "binary16"
gradients = "bfloat16"
"""


def built_of(name: str, kinds: str) -> str:
    """The network on units of these kinds; with several maps a beat they fold on odd kernels."""
    text = {"small": NETWORK, "branched": BRANCHED}[name].replace("r = 1\n", f"r = 1\n{kinds}")
    return text.replace("k = 2\n", "k = 3\n") if "map_port" in kinds else text


def cut(whole: NetworkPlan, seed: int) -> NetworkPlan:
    """The plan with tiles of any size, and the engines that they ask for."""
    rng = np.random.default_rng(seed)
    made: list[PlannedPhase] = []
    for phase in PHASES:
        ours = [each for each in whole.layers if each.work.phase == phase]
        tiles = [
            (
                int(rng.integers(1, max(2, each.work.inputs))),
                int(rng.integers(1, max(2, each.work.outputs))),
            )
            for each in ours
        ]
        engine = engine_of("k2", [each.work for each in ours], tiles)
        made += [
            replace(each, tile=tile, engine=engine) for each, tile in zip(ours, tiles, strict=True)
        ]
    return replace(whole, layers=tuple(made))


def check_steps(found: NetworkPlan, engine: str, momentum: float, decay: float, steps: int) -> None:
    """Train from the same start in the hardware and in the golden model."""
    network = found.network
    rng = np.random.default_rng(1)
    rates = rates_of(0.1, IMAGES, network.fmt, momentum=momentum, weight_decay=decay)
    made = initial_model(network, 3)
    moving = {
        name: pair_in_memory(pair, "gradients", network.fmt, network.storage)
        for name, pair in initial_model(network, 4).parameters.items()
    }
    ours = wanted = replace(made, velocities=moving)
    hardware = HardwareStep(PlannedLayers(found), engine)
    for _ in range(steps):
        batch = to_bits(rng.uniform(0, 1, (IMAGES, *network.input)), network.fmt)
        labels = rng.integers(0, 3, IMAGES)
        golden = train_step(network, wanted, batch, labels, rates, pooled=True)
        wanted = golden.model
        ours, loss, audits, *_ = hardware.step(ours, batch, labels, rates)
        assert loss == golden.loss
        for part in ("parameters", "velocities"):
            for name, both in getattr(wanted, part).items():
                for got, bits in zip(getattr(ours, part)[name], both, strict=True):
                    assert got.dtype == bits.dtype
                    np.testing.assert_array_equal(got, bits, err_msg=f"{name} {part}")
        for each in found.layers:
            layer, phase = each.work.layer.name, each.work.phase
            beside = momentum > 0 and phase in UPDATING
            ports = with_velocities(each.work, each.ports) if beside else each.ports
            assert audits[layer, phase].moved == ports


def test_a_delta_that_starts_elements_of_maps_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "flattened.toml"
    file.write_text(FLATTENED)
    network = read_network(file, Path())
    found = plan(network, open_board("kc705"), IMAGES)
    missing = [(p.work.layer.name, p.work.phase) for p in found.layers if not p.work.built]
    assert missing == [("fc2", "dp")]
    with pytest.raises(
        BadInput, match="layer fc2: it takes maps flattened that conv3 adds; no hardware expands"
    ):
        PlannedLayers(found)
    with pytest.raises(BadInput, match="allowed are unpooled deltas"):
        delta_design(network, network.layer("fc2"), before=True)
    assert delta_design(network, network.layer("fc2")).engine.added


@pytest.mark.parametrize(
    ("name", "kinds", "momentum", "decay", "seed", "steps"),
    [
        ("small", "", 0.9, 0.1, 0, 1),
        *rows_in_full(
            ("small", WIDE, 0.9, 0.0, 0, 1), ("branched", "", 0.9, 0.0, 0, 1),
            ("small", "", 0.0, 0.1, 1, 2), ("small", FUSED, 0.9, 0.0, 2, 2),
            ("small", FUSED, 0.5, 0.1, 3, 2), ("small", "", 0.9, 0.0, 4, 2),
            ("small", WIDE + FUSED, 0.9, 0.1, 5, 2), ("branched", FUSED, 0.9, 0.1, 1, 2),
            ("branched", "", 0.0, 0.0, 2, 2), ("branched", FUSED, 0.5, 0.1, 3, 2),
            ("branched", WIDE, 0.9, 0.0, 0, 1),
        ),
    ],
)  # fmt: skip
def test_tiles_of_any_size_train_to_the_golden_bits(
    name: str, kinds: str, momentum: float, decay: float, seed: int, steps: int, tmp_path: Path
) -> None:
    file = tmp_path / "small.toml"
    file.write_text(built_of(name, kinds))
    found = cut(plan(read_network(file, Path()), open_board("kc705"), IMAGES), seed)
    parts = {(each.work.phase, each.in_parts > 1, each.out_parts > 1) for each in found.layers}
    assert {(phase, True, True) for phase in PHASES} <= parts
    check_steps(found, "myhdl", momentum, decay, steps)


@pytest.mark.parametrize("name", ["small", *in_full("branched")])
def test_what_is_stored_narrower_trains_in_tiles_to_the_golden_bits(
    name: str, tmp_path: Path
) -> None:
    """Partial sums between passes stay as wide as the sums."""
    file = tmp_path / "small.toml"
    file.write_text(built_of(name, "") + NARROW)
    found = cut(plan(read_network(file, Path()), open_board("kc705"), IMAGES), 0)
    check_steps(found, "myhdl", 0.9, 0.1, 1)


def test_an_image_in_bytes_trains_on_a_board_to_the_golden_bits(tmp_path: Path) -> None:
    """On designs that the plan makes: the first layer's is its alone."""
    file = tmp_path / "small.toml"
    text = NETWORK[: NETWORK.index("[design")].replace('design = "k2"\n', "")
    file.write_text(text + '[network.storage]\nimage = "uint8"\nmaps = "bfloat16"\n')
    found = plan(read_network(file, Path()), open_board("kc705"), IMAGES)
    designs = [layer.design for layer in found.network.layers]
    assert designs == ["auto2_image", "auto2", "auto2", "auto2"]
    read = {(each.work.layer.name, each.work.phase): each.ports for each in found.layers}
    for phase in ("fp", "ku"):
        assert read["conv1", phase]["map_in"] == IMAGES * 4 * 4 * 4
        assert read["conv2", phase]["map_in"] == 2 * IMAGES * 2 * 2 * 6
    check_steps(found, "myhdl", 0.9, 0.1, 1)


@pytest.mark.parametrize(("storage", "momentum"), [(NARROW, 0.9), *rows_in_full(("", 0.0))])
def test_what_fits_goes_back_in_one_pass_and_the_rest_apart(
    storage: str, momentum: float, tmp_path: Path
) -> None:
    """One unit cannot be shared out: conv3, the last layer, has both phases, in the same step."""
    layers = NETWORK[: NETWORK.index('[[layer]]\nname = "fc3')].replace(
        "[[layer]]", 'backward = "combined"\n[[layer]]', 1
    )
    last = (
        '[[layer]]\nname = "conv3"\nmaps = 3\nkernel = 2\npad = 1\nrelu = false\ndesign = "one"\n'
    )
    designs = NETWORK[NETWORK.index("[design.k2]") :]
    one = designs.replace("k2", "one").replace("n_cu = 2", "n_cu = 1")
    file = tmp_path / "small.toml"
    file.write_text(layers + last + designs + one + storage)
    found = plan(read_network(file, Path()), open_board("kc705"), IMAGES)
    back = [
        (each.work.layer.name, each.work.phase) for each in found.layers if each.work.phase != "fp"
    ]
    assert back == [("conv1", "ku"), ("conv2", "bp"), ("conv3", "dp"), ("conv3", "ku")]
    assert [line.split(" because ")[0] for line in found.apart(found.network.layers)] == [
        "conv1 has only ku,", "conv3 has dp and ku,",
    ]  # fmt: skip
    check_steps(found, "myhdl", momentum, 0.1, 1)


@pytest.mark.full
@pytest.mark.parametrize(
    ("engine", "name"),
    [
        pytest.param("verilator", "small", marks=pytest.mark.verilator),
        pytest.param("verilator", "branched", marks=pytest.mark.verilator),
        pytest.param("ghdl", "small", marks=pytest.mark.ghdl),
    ],
)
def test_tiles_of_any_size_train_to_the_golden_bits_in_other_engines(
    engine: str, name: str, tmp_path: Path
) -> None:
    file = tmp_path / "small.toml"
    file.write_text(built_of(name, FUSED))
    check_steps(
        cut(plan(read_network(file, Path()), open_board("kc705"), IMAGES), 2), engine, 0.9, 0.1, 2
    )
