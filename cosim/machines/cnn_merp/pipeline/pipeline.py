"""The engines of a pipeline, and the streams that are pins of its top."""

from __future__ import annotations

from merp.cosim.machines.cnn_merp.at_once.engines import (
    ConcurrentEngine,
    Phase,
    PortCount,
    top_args,
)
from merp.cosim.machines.cnn_merp.phases.delta import DeltaPhase
from merp.cosim.machines.cnn_merp.phases.forward import ForwardPhase
from merp.cosim.machines.cnn_merp.phases.kernel_update import KernelUpdate
from merp.hdl.cnn_merp.pipeline.pipeline import pipeline
from merp.hdl.cnn_merp.pipeline.ports import PipelineStatus
from merp.hdl.cnn_merp.ports.slice_ports import AdmissionConfig
from merp.models.base.rates import UpdateRule
from merp.models.machines.cnn_merp.params.pipeline_design import PipelineDesign
from merp.models.network.network import Network
from merp.testbenches.cnn_merp.described import described
from merp.testbenches.top.top import Top


class HardwarePipeline:
    """A network as a pipeline.

    Args:
        network: network with a design for every layer.
        design: design of the pipeline.
        rule: update rule.

    Attributes:
        engines: in the order of layers; fp, dp and ku of each layer.
    """

    def __init__(self, network: Network, design: PipelineDesign, rule: UpdateRule) -> None:
        self.network = network
        self.design = design
        self.rule = rule
        found: list[ConcurrentEngine] = []
        for place, (layer, piece) in enumerate(
            zip(network.layers, self.design.slices, strict=True), 1
        ):
            phases: list[Phase] = [ForwardPhase(network, piece.forward)]
            if piece.propagation is not None:
                phases.append(DeltaPhase.of(network, layer))
            phases.append(KernelUpdate.of(network, layer, rule=rule))
            found += [ConcurrentEngine(place, layer, phase) for phase in phases]
        self.engines = tuple(found)

    def pin(self, engine: ConcurrentEngine, port: str) -> str | None:
        """Return the top's stream for a port of an engine.

        None if it connects to another engine.
        """
        last = engine.place == len(self.network.layers)
        name, stream = engine.phase.name, engine.streams[port]
        if name == "fp" and engine.place == 1 and port == "map_in":
            return "s_axis_map"
        if name == "fp" and last and port == "map_out":
            return "m_axis_map"
        if name == "ku" and last and port == "delta_in":
            return "s_axis_delta"
        parameters = port.startswith(("kernel", "bias"))
        if name != "dp" and parameters:
            return f"{stream[:6]}_{engine.name}{stream[6:]}"
        return None

    def joined(self, engine: ConcurrentEngine, port: str) -> tuple[PortCount, ...]:
        """Return counters at the other end of an engine's port that is not a pin of the top."""
        place, phase = engine.place, engine.phase.name
        whose, its = {
            ("fp", "map_in"): (f"layer{place - 1}_fp", "map_out"),
            ("fp", "map_out"): (f"layer{place + 1}_fp", "map_in"),
            ("fp", "state_out"): (f"layer{place + 1}_dp", "state_in"),
            ("dp", "delta_in"): (f"layer{place}_ku", "delta_in"),
            ("dp", "delta_out"): (f"layer{place - 1}_ku", "delta_in"),
            ("dp", "kernel"): (f"layer{place}_fp", "kernel"),
            ("dp", "state_in"): (f"layer{place - 1}_fp", "state_out"),
            ("ku", "map_in"): (f"layer{place}_fp", "map_in"),
            ("ku", "delta_in"): (f"layer{place + 1}_dp", "delta_out"),
        }[phase, port]
        return (PortCount(whose, its),)

    def top(self, array: str = "rtl") -> Top:
        """Return the block as a top with its own signals.

        Raises:
            ValueError: ``array`` is not a kind of array.
        """
        args = top_args(
            self,
            {"admission": AdmissionConfig(self.design)},
            PipelineStatus(self.design, self.rule.momentum),
        )
        return Top(pipeline, args, array, described)
