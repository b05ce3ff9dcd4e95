"""Cycles of a network on a chain of nodes: the row-by-row simulator with engines as its servers.

The model is that of a pipeline on one chip (``cycles``), with two differences. Deltas are expanded
in front of both engines of backward propagation, one element a cycle. Links have latency and
limited rate. Loading of kernels and latencies of engines are omitted, except the latency of the
update, which ends the batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from merp.models.machines.cnn_merp.at_once.rows import PAIR, rows_of
from merp.models.machines.cnn_merp.chain.shares import LATENCY, Share
from merp.models.machines.cnn_merp.cycle_causes import Cycles
from merp.models.machines.cnn_merp.cycles import delta_cycles, forward_cycles, update_cycles
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.params.pipeline_registers import sum_words
from merp.models.machines.cnn_merp.phases import delta_design, update_design
from merp.models.network.network import Network
from merp.models.network.phases import PHASES, has_phase
from merp.models.rows.layout import Layout, Links, Slice
from merp.models.rows.simulator import simulate

WORD = 32
"""Bits of every word on a link."""

FIFO = 2
"""Cycles of the FIFO after a link."""


@dataclass(frozen=True, kw_only=True)
class ClusterCycles:
    """Cycles of a batch on a chain.

    Attributes:
        total: from the first word in until the last new kernels have been output.
        interval: from image to image, on average over the second half of the batch.
        words: of the batch over each link, by the node in front of it and the direction, ``on`` or
            ``back``.
    """

    total: int
    interval: float
    words: Mapping[tuple[int, str], int]


def cluster_cycles(
    network: Network, shares: Sequence[Share], images: int, depth: int, pace: int
) -> ClusterCycles:
    """Model a batch of ``images``, at most ``depth`` of them in flight, a word every ``pace``
    cycles.

    Raises:
        BadInput: a layer has no design.
    """
    outcome = simulate(
        Layout(
            layers=rows_of(network.layers),
            slices=tuple(_slice(network, share) for share in shares),
            links=Links(
                bits_per_cycle=Fraction(WORD, pace), word_bits=WORD, latency=LATENCY + FIFO
            ),
            images=images,
            depth=depth,
        )
    )
    streams = {
        stream.what: ends for stream, ends in zip(outcome.graph.streams, outcome.ends, strict=True)
    }
    updated = [
        streams[f"ku {share.layer.name} on node {share.node}"][-1]
        + _cycles(network, share, "ku", PAIR).drain
        for share in shares
    ]
    return ClusterCycles(
        total=max(updated),
        interval=outcome.interval,
        words={
            (border, way): outcome.words(f"link {begin} to {end}")
            for border in range(shares[-1].node)
            for way, begin, end in (("on", border, border + 1), ("back", border + 1, border))
        },
    )


def _slice(network: Network, share: Share) -> Slice:
    maps = share.layer.shape.n
    phases = [phase for phase in PHASES if has_phase(network, share.layer, phase)]
    return Slice(
        node=share.node,
        layer=[each.name for each in network.layers].index(share.layer.name),
        begin=Fraction(share.begin, maps),
        end=Fraction(share.end, maps),
        cycles={phase: _interval(network, share, phase) for phase in phases},
    )


def _interval(network: Network, share: Share, phase: str) -> int:
    """Return the cycles of an image in a long batch: the increase for two more images, per
    image.
    """
    few, more = (_cycles(network, share, phase, PAIR * count) for count in (1, 2))
    walked = -(-(more.total - few.total) // PAIR)
    return walked if phase == "fp" else max(walked, sum_words(share.shape))


def _cycles(network: Network, share: Share, phase: str, images: int) -> Cycles:
    """Return the cycles of an engine of a share."""
    layer, shape = share.layer, share.shape
    if phase == "fp":
        return forward_cycles(shape, images, design_of(network, layer), share.part)
    if phase == "dp":
        plain = replace(shape, relu=False, pool=None)  # undone before the engine
        design = delta_design(network, layer, before=True).engine
        return delta_cycles(shape, plain, shape.m, images, design)
    return update_cycles(shape, images, update_design(network, layer))
