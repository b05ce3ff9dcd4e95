"""A kernel update takes old parameters in the images that need them, and checks their last beat."""

from itertools import product

import pytest

from block_bench import BlockBench, Sample
from merp.hdl.base.signals import Stream
from merp.hdl.mac_array.phases.old_parameters import old_parameters
from merp.hdl.mac_array.ports.trainer_ports import TrainerPorts
from merp.hdl.mac_array.ports.updates import StepStreams
from merp.testbenches.mac_array.designs import small_design

BEATS, CYCLES = 3, 12
SINKS = {"gradient": "s_axis_gradient_t", "kernel": "kernels_", "velocity": "s_axis_velocity_t"}
IMAGES = list(product((0, 1), repeat=4))
"""Whether a pass is an update, its image the first, the last, and its batch has momentum."""


def wanted(image: tuple[int, ...]) -> dict[str, int]:
    """Whether the pass needs each kind."""
    update, first, last, momentum = image
    return {
        "gradient": update and not first,
        "kernel": update and last,
        "velocity": update and last and momentum,
    }


def framing(image: tuple[int, ...], spoilt: str) -> int:
    """Offer more beats than a pass takes; the last mark of ``spoilt`` comes a beat early."""
    design = small_design(momentum=True)
    kinds = {kind: Stream(design.parameter_bits) for kind in SINKS}
    bench = BlockBench(
        old_parameters, "clk rst start framing_error", ports=TrainerPorts(design),
        kernels=Stream(design.parameter_bits), old=StepStreams(**kinds),
    )  # fmt: skip
    update, first, last, momentum = image
    settings = {
        "supply_config_walk_update": update, "update_config_first": first,
        "update_config_last": last, "update_config_has_momentum": momentum,
        "update_config_beats": BEATS,
    }  # fmt: skip
    taken = dict.fromkeys(SINKS, 0)

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        for kind, sink in SINKS.items():
            taken[kind] += bool(seen and seen[f"{sink}valid"] and seen[f"{sink}ready"])
        values = {"rst": int(cycle == 0), "start": int(cycle == 1)}
        for kind, sink in SINKS.items():
            values |= {
                f"{sink}valid": 1, f"{sink}data": 10 + taken[kind],
                f"{sink}last": int(taken[kind] == BEATS - 1 - (kind == spoilt)),
                f"old_{kind}_ready": 1,
            }  # fmt: skip
        return settings | values

    trace = bench.run(drive, CYCLES)
    for kind, needed in wanted(image).items():
        given = [data for _, data, _ in trace.transfers(f"old_{kind}")]
        assert given == [10, 11, 12] * bool(needed), (image, kind)
    return trace.column("framing_error")[-1]


@pytest.mark.parametrize("image", IMAGES)
def test_each_kind_passes_in_the_images_that_need_it(image: tuple[int, ...]) -> None:
    assert framing(image, "none") == 0


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", SINKS)
def test_a_last_mark_at_another_beat_is_an_error(kind: str) -> None:
    for image in IMAGES:
        assert framing(image, kind) == wanted(image)[kind], image
