"""A batch in a pipeline: its inputs, its expected outputs, and its checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from merp.cosim.machines.cnn_merp.at_once.batch import ConcurrentBatch, batch_of
from merp.cosim.machines.cnn_merp.at_once.engines import ConcurrentEngine
from merp.cosim.machines.cnn_merp.phases.delta import DeltaPhase, delta_pass
from merp.cosim.machines.cnn_merp.phases.forward import ForwardPhase, forward_pass
from merp.cosim.machines.cnn_merp.phases.kernel_update import update_pass
from merp.cosim.machines.cnn_merp.pipeline.pipeline import HardwarePipeline
from merp.cosim.phases.expectation import GroupPass
from merp.models.base.rates import Rates
from merp.models.golden.training import Model, Step, leaves, state_behind
from merp.models.machines.cnn_merp.params.pipeline_registers import (
    PipelineRun,
    map_words,
    sum_words,
)
from merp.models.network.branches import behind


def batch(
    pipeline: HardwarePipeline,
    model: Model,
    step: Step,
    rates: Rates,
    depth: int,
    stalls: Mapping[str, Sequence[int]] | None = None,
) -> ConcurrentBatch:
    """Return a batch as a run. The golden step gives its inputs and its expected outputs.

    The host sends the delta of an image after the scores of this image have left the hardware. The
    checks compare these scores with the scores from which the delta was computed.

    Args:
        pipeline: the pipeline.
        model: the model before the step.
        step: the golden step.
        rates: words of the factors.
        depth: maximum number of images in flight.
        stalls: stall patterns by stream name.
    """
    layers = pipeline.network.layers
    passes = {
        engine.name: _pass(pipeline, engine, model, step, rates) for engine in pipeline.engines
    }
    entry = PipelineRun(
        words=map_words(layers[0].shape),
        leaving=sum_words(layers[0].shape),
        losses=sum_words(layers[-1].shape),
        images=len(step.output),
        depth=depth,
    )
    return batch_of(pipeline, passes, entry, stalls)


def _pass(
    pipeline: HardwarePipeline, engine: ConcurrentEngine, model: Model, step: Step, rates: Rates
) -> GroupPass:
    """Return the pass of one engine in a golden step."""
    network, layer, phase = pipeline.network, engine.layer, engine.phase
    here = step.of(layer)
    kernels, biases = model.of(layer).parameters
    if isinstance(phase, ForwardPhase):
        state = step.state(layer) if phase.design.state else None
        return forward_pass(layer, 0, phase.design, here.x, (kernels, biases), step.y(layer), state)
    if isinstance(phase, DeltaPhase):
        earlier = behind(network, layer)
        state = state_behind(network, layer, step.state)
        wanted = leaves(network, layer, step.of, pooled=False)
        return delta_pass(layer, earlier, 0, phase.design, here.sums, state, kernels, wanted)
    old, new = model.of(layer), step.updated(layer)
    return update_pass(layer, 0, phase.design, here.x, here.sums, old, rates, new)
