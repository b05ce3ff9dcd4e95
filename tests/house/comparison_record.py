"""A record by hand: two devices, a layer and a half each."""

from merp.models.comparison.figure import Figure
from merp.models.comparison.record import Device, PhaseRow, Record


def model(value: float) -> Figure:
    """A figure of our own model."""
    return Figure(value, "model")


RECORD = Record(
    architecture="ours",
    network="two",
    board="board",
    part="part",
    options={"fit": "best", "depth": 3, "share": 0.5, "strict": True, "none": None},
    scope=("conv1", "conv2"),
    batch=4,
    word_bits=16,
    accumulator_bits=36,
    clock_mhz=Figure(100, "assumed"),
    memory_gbs=None,
    devices=(
        Device(used={"dsp": model(90), "bram": model(3)}, memory={"weights": model(1000)}),
        Device(used={"dsp": model(120), "bram": model(4), "lut": Figure(5, "synthesised")}),
    ),
    limits={"lut": 10, "ff": 10, "bram": 4, "dsp": 100},
    block_bits=20_480,
    rows=(
        PhaseRow(layer="conv1", phase="fp", cycles=model(100), macs=1000,
            bytes={"maps": Figure(64, "formula"), "kernels": model(8), "link": model(32)}),
        PhaseRow(layer="conv2", phase="fp", cycles=model(50), macs=300, bytes={"host": model(4)}),
        PhaseRow(device=1, layer="conv2", phase="fp", cycles=model(60), macs=200),
        PhaseRow(device=1, layer="conv2", phase="dp", cycles=Figure(70, "simulated"), macs=500,
            waits={"link": model(9)}, runs_as="a unit", binds="link"),
    ),
    own=("link",),
    multipliers=model(10),
    latency_s=model(4e-6),
    interval_s=model(2e-6),
    reconfiguration_s=model(1e-6),
    power_w=Figure(30, "printed"),
    at_work=2,
    notes=("a note",),
)  # fmt: skip
