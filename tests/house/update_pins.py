"""The ports of an update unit, by the names of the words that pass them."""

from __future__ import annotations

from merp.hdl.base.signals import Stream, bits
from merp.hdl.cnn_merp.update_unit.update_ports import ParameterStreams, Passage

STREAMS = ("kernel", "bias", "kernel_velocity", "bias_velocity")
EXTENT, MAP = "config_extent", "config_extent_map"
READ, BIAS_READ = "gradients_place_kernel", "gradients_place_bias"


def sink(name: str) -> str:
    """The port that words of this name come in by."""
    return _port(name, "sink")


def source(name: str) -> str:
    """The port that words of this name leave by."""
    return _port(name, "source")


def _port(name: str, way: str) -> str:
    kind, *velocity = name.split("_")
    return f"{'velocities' if velocity else 'parameters'}_{way}_{kind}"


def passage(width: int, lanes: int = 1) -> Passage:
    """Streams in and out, of beats with ``keep`` where these have several elements."""
    sinks, sources = ([Stream(lanes * width) for _ in range(2)] for _ in range(2))
    for each in sources:
        each.keep = bits(lanes * width // 8) if lanes > 1 else None
    return Passage(ParameterStreams(*sinks), ParameterStreams(*sources))
