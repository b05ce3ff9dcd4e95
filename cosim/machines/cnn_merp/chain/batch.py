"""A batch on a chain of nodes: its inputs, its expected outputs, and the words on the links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.at_once.batch import ConcurrentBatch, batch_of
from merp.cosim.machines.cnn_merp.chain.cluster import Cluster, ShareEngine
from merp.cosim.machines.cnn_merp.chain.of_share import own_maps, updated_share
from merp.cosim.machines.cnn_merp.phases.delta import DeltaPhase, delta_run, expect_delta
from merp.cosim.machines.cnn_merp.phases.forward import ForwardPhase, expect_forward, forward_run
from merp.cosim.machines.cnn_merp.phases.kernel_update import expect_update, kernel_update_run
from merp.cosim.machines.training.crossing import Crossing
from merp.cosim.phases.expectation import GroupPass
from merp.models.base.bits import Bits
from merp.models.base.rates import Rates
from merp.models.golden.convolution import from_biases, partial_sums
from merp.models.golden.state import packed
from merp.models.golden.training import Model, Step
from merp.models.machines.cnn_merp.chain.shares import Share
from merp.models.machines.cnn_merp.params.cluster_registers import LINK, SHARE, ShareRun
from merp.models.machines.cnn_merp.params.pipeline_registers import (
    PipelineRun,
    map_words,
    output_words,
)
from merp.models.traffic.pass_words import state_bytes


def crossing_words(share: Share, images: int) -> dict[tuple[str, str], int]:
    """Return the words of each stream over the link behind a share, by formula.

    For masks the result counts bytes.

    source: FPDeep section III.C, data paths 1, 2, 4 and 5
    """
    layer, shape = share.layer, share.layer.shape
    outputs = output_words(shape) * images
    if share.part.last:
        return {("on", "maps"): outputs, ("back", "errors"): outputs}
    others = (shape.n - share.end) * shape.rows * shape.columns * images
    return {
        ("on", "maps"): others,
        ("on", "sums"): layer.sums * images,
        ("back", "errors"): outputs,
        ("back", "states"): state_bytes(shape, shape.m, images),
        ("back", "deltas"): others,
    }


@dataclass(frozen=True)
class ClusterBatch(ConcurrentBatch):
    """A training step as one run of a chain, ``hardware``.

    Attributes:
        images: number of images of the batch.
    """

    hardware: Cluster
    images: int

    def crossings(self, status: Mapping[str, int]) -> Iterator[Crossing]:
        """Return the words that crossed the links, from the status of the top."""
        for share, behind in pairwise(self.hardware.shares):
            if share.node == behind.node:
                continue
            for (way, stream), words in crossing_words(share, self.images).items():
                link = f"status_link{share.node + 1}_{way}"
                counts = (status[f"{link}_{end}_{stream}"] for end in ("sent", "arrived"))
                yield Crossing(share.node, way, stream, words, *counts)

    def failures(self, record: RunRecord) -> list[str]:
        """Return the failed checks of the whole run, apart from the audits of single engines."""
        return super().failures(record) + [
            f"link {each.border} to {each.border + 1} {each.way}: {each.stream}: "
            f"closed_form {each.closed_form}, sent {each.sent}, arrived {each.arrived}"
            for each in self.crossings(record.outcome.status)
            if not each.closed_form == each.sent == each.arrived
        ]


def cluster_batch(
    cluster: Cluster,
    model: Model,
    step: Step,
    rates: Rates,
    depth: int,
    pace: int,
    stalls: Mapping[str, Sequence[int]] | None = None,
) -> ClusterBatch:
    """Return a batch as a run.

    The golden step gives its inputs and expected outputs, as in ``batch``.

    Args:
        cluster: the chain.
        model: the model before the step.
        step: the golden step, with deltas at pooled resolution.
        rates: words of the factors.
        depth: maximum number of images in flight.
        pace: cycles per word on a link.
        stalls: stall patterns by stream name.
    """
    layers, images = cluster.network.layers, len(step.output)
    entry = PipelineRun(
        words=map_words(layers[0].shape),
        leaving=output_words(layers[0].shape),
        losses=output_words(layers[-1].shape),
        images=images,
        depth=depth,
    )
    passes = {engine.name: _pass(engine, model, step, rates) for engine in cluster.engines}
    made = batch_of(cluster, passes, entry, stalls)
    config = {**made.run.config}
    config |= {f"config_{name}": value for name, value in LINK.values(pace).items()}
    for place, share in enumerate(cluster.shares, 1):
        shape = share.layer.shape
        if not share.part.last:
            dealt = ShareRun(
                own=share.end - share.begin,
                maps=shape.n - share.begin,
                positions=images * shape.rows * shape.columns,
            )
            values = SHARE.values(dealt)
            config |= {f"config_share{place}_{name}": value for name, value in values.items()}
    run = replace(made.run, config=config)
    return ClusterBatch(cluster, run, passes, images)


def _pass(engine: ShareEngine, model: Model, step: Step, rates: Rates) -> GroupPass:
    """Return the pass of one engine in a golden step."""
    share, layer, phase = engine.share, engine.layer, engine.phase
    shape, part, images = share.shape, share.part, len(step.output)
    here, fmt = step.of(layer), step.network.fmt
    kernels = own_maps(model.of(layer).parameters[0], share, 1)
    x = own_maps(here.x, share, -1)
    state = packed(step.state(layer), layer.shape, fmt)
    if isinstance(phase, ForwardPhase):
        start, sums = _sums(share, model, step)
        wanted = step.y(layer) if part.last else sums
        run = forward_run(shape, phase.design, x, kernels, start, part=part)
        written = state if phase.design.state else None
        return GroupPass(run, expect_forward(shape, images, phase.design, wanted, written, part))
    if isinstance(phase, DeltaPhase):
        full = images, shape.rows, shape.columns, layer.shape.n
        wanted = own_maps(step.left(layer).reshape(full), share, -1)
        run = delta_run(shape, shape, phase.design, here.delta, kernels, state)
        return GroupPass(run, expect_delta(shape, shape, images, phase.design, wanted))
    momentum = rates.rule.momentum
    old, new = (updated_share(of.of(layer), share) for of in (model, step.model))
    run = kernel_update_run(
        shape,
        phase.design,
        x,
        here.delta,
        old.parameters,
        rates,
        old.velocities if momentum else None,
        undone=phase.undone,
        state=state,
        part=part,
    )
    expected = expect_update(
        shape,
        images,
        phase.design,
        *new.parameters,
        new.velocities if momentum else None,
        before=True,
        part=part,
    )
    return GroupPass(run, expected)


def _sums(share: Share, model: Model, step: Step) -> tuple[Bits, Bits]:
    """Return the sums of a share at its start and at its end, in the accumulator's format.

    The first share starts at the biases as they are stored.
    """
    layer, network = share.layer, step.network
    shape, fmt, summation = layer.shape, network.fmt, network.summation(layer)
    kernels, biases = model.of(layer).parameters
    x, sums = step.of(layer).x, from_biases(biases, fmt, summation)
    starts = biases
    for begin, end in ((0, share.begin), (share.begin, share.end)):
        if end > begin:
            maps = slice(begin, end)
            own = np.ascontiguousarray(x[..., maps]), np.ascontiguousarray(kernels[:, maps])
            starts = sums if begin else starts
            sums = partial_sums(*own, sums, shape.stride, shape.pad, fmt, summation)
    return starts, sums
