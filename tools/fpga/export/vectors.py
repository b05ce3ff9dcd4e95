"""Passes whose vectors an export holds: a layer on ``merp simulate``'s input, and a small pass.

The small pass runs on the same elaboration with small run-time registers. Therefore a simulator
with some ten cycles per second finishes within minutes.
"""

from __future__ import annotations

from merp.cosim.phases.expectation import GroupPass
from merp.models.base.bits import Bits
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.initial import Parameters, parameters
from merp.models.network.network import Layer, Network
from merp.models.network.phases import made_by
from merp.tools.common.input_maps import input_maps, random_maps
from merp.tools.fpga.bitstream.bitstream import Bitstream
from merp.tools.fpga.export.exported import exported_of


def whole_pass(bitstream: Bitstream, layer: Layer, images: int) -> GroupPass:
    """Return the first group of a layer; the golden model computes its input."""
    network = bitstream.network
    image = input_maps(network, images)
    return _pass(bitstream, network, layer, image, parameters(network, 0))


def small_pass(bitstream: Bitstream) -> GroupPass:
    """Return a small layer with random numbers on the elaboration of ``bitstream``."""
    exported = exported_of(bitstream.network)
    network, layer = exported.small(bitstream)
    image = random_maps(network, exported.least_images(bitstream))
    return _pass(bitstream, network, layer, image, parameters(network, 0))


def _pass(
    bitstream: Bitstream, network: Network, layer: Layer, image: Bits, made: Parameters
) -> GroupPass:
    """Return the first group of a layer of ``network``, on the elaboration of ``bitstream``."""
    layers = dict.fromkeys((layer, made_by(network, layer, bitstream.phase.name)))
    step = GoldenStep(network, tuple(layers), image, made, pooled=bitstream.before)
    return bitstream.phase.on(network).golden_pass(layer, 0, step)
