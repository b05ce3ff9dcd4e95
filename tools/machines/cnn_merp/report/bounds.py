"""Tables of the report about possible savings: lower bounds, and changes of the design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from merp.models.network.network_keys import SEPARATE, json_backward
from merp.models.network.phases import COUNTED, ONE_PASS, PHASES, has_phase
from merp.models.traffic.bounds import lower_bound, on_chip_words
from merp.models.traffic.closed_form import LayerTraffic, PhaseTraffic, network_traffic, total
from merp.models.traffic.count import Count
from merp.models.traffic.variants import Variant, variants
from merp.tools.machines.cnn_merp.report.below import is_built
from merp.tools.machines.cnn_merp.report.choice import PlannedChoice
from merp.tools.machines.cnn_merp.report.fused_figure import fused_figure
from merp.tools.report.table import LAYER, MEASURED, MODELLED, PHASE, Column, Table

MB, KB = 1e6, 1e3


def bounds_table(choice: PlannedChoice) -> Table:
    """Return the distance of each layer and phase to the lower bounds of any schedule."""
    network, batch = replace(choice.network, backward=SEPARATE), choice.batch
    rows = []
    for each in network_traffic(network, batch, Count(name="all", state="pooled")):
        layer = each.layer
        memory = on_chip_words(layer)
        for phase in PHASES:
            found = getattr(each, phase)
            if found is None or layer.kind != "conv":
                continue
            bound = lower_bound(network, layer, phase, batch, memory)
            rows.append(
                {
                    "layer": layer.name,
                    "phase": phase.upper(),
                    "moved_bytes": found.bytes,
                    "fused_bytes": bound.fused,
                    "ratio": found.bytes / bound.fused,
                    "on_chip_bytes": memory * network.fmt.bytes,
                    "operand_bytes": bound.operands,
                    "communication_bytes": bound.communication,
                    "binding": bound.binding,
                }
            )
    return Table(
        id="bounds",
        title="Distance to the lower bounds",
        caption=(
            "Count all with deltas at pooled resolution, compared with compulsory traffic: input "
            "maps, pooled output maps and kernels, each once. The right half bounds the "
            "convolution alone, with sums as its outputs (Chen et al. 2022; its constants are "
            "quoted, not checked against the paper). The bound is the larger of two values. One "
            "is all operands once. The other is the traffic that the layer's own on-chip memory "
            "requires (kernels, k rows of each map, sums, of one group). Fused pooling may be "
            "below it. Modelled."
        ),
        columns=[
            LAYER,
            PHASE,
            Column(key="moved_bytes", label="moved", unit="MB", digits=2, scale=MB),
            Column(key="fused_bytes", label="compulsory", unit="MB", digits=2, scale=MB),
            Column(key="ratio", label="moved / compulsory", digits=3),
            Column(key="on_chip_bytes", label="on chip", unit="KB", digits=1, scale=KB),
            Column(key="operand_bytes", label="operands once", unit="MB", digits=2, scale=MB),
            Column(key="communication_bytes", label="memory forces", unit="MB", digits=2, scale=MB),
            Column(key="binding", label="binding"),
        ],
        rows=rows,
    )


def variants_table(choice: PlannedChoice) -> Table:
    """Return designs that move less than the paper, each row with its own conditions."""

    def of(layers: Sequence[LayerTraffic], phase: str) -> PhaseTraffic:
        return total([each for each in layers if each.layer.kind == "conv"], phase)

    found = variants(choice.network, choice.batch, choice.pair)
    base = of(found[0].layers, "step").bytes
    rows = [
        {
            "variant": each.name,
            "deltas": each.deltas,
            "formats": each.formats,
            "image": each.image,
            "backward": json_backward(each.backward),
            "fused": each.fused,
            "hardware": "yes" if is_built(each, choice.part) else "no",
            **{f"{p}_mb_per_gflop": of(each.layers, p).mb_per_gflop for p in (*PHASES, ONE_PASS)},
            "step_bytes": of(each.layers, "step").bytes,
            "step_mb_per_gflop": of(each.layers, "step").mb_per_gflop,
            "step_basis": _basis(choice, each),
            "saved": 100 * (1 - of(each.layers, "step").bytes / base),
        }
        for each in found
    ]
    return Table(
        id="variants",
        title="Below the paper",
        caption=(
            "Count all, convolution layers, a training step. The rows differ in the resolution of "
            "stored deltas, and in the formats of tensors and images. They also differ in the "
            "passes: one backward pass (BP) or two, and layers that share one pass of FP. Only "
            "the backward phases read the map between such layers. Measured: records moved "
            "exactly these bytes on every port of each layer and phase, with correct bits. "
            "Hardware: whether a design of this network supports the row."
        ),
        columns=[
            Column(key="variant", label="other than in the paper"),
            Column(
                key="step_bytes", label="step", unit="MB", digits=1, scale=MB, basis="step_basis"
            ),
            Column(key="step_mb_per_gflop", label="step", unit="MB/GFlop", digits=3),
            Column(key="saved", label="saved", unit="%", digits=1),
            Column(key="deltas", label="deltas at"),
            Column(key="formats", label="formats"),
            Column(key="image", label="images"),
            Column(key="backward", label="way back"),
            Column(key="fused", label="fused"),
            Column(key="hardware", label="in hardware"),
            *(
                Column(key=f"{p}_mb_per_gflop", label=p.upper(), unit="MB/GFlop", digits=3)
                for p in (*PHASES, ONE_PASS)
            ),
        ],
        rows=rows,
    )


def _basis(choice: PlannedChoice, variant: Variant) -> str:
    """Return whether records contain the bytes of every convolution and phase of a step."""
    network = variant.network
    figures = [
        (each.layer, phase, getattr(each, phase))
        for each in variant.layers
        for phase in COUNTED
        if each.layer.kind == "conv" and has_phase(network, each.layer, phase)
    ]
    if network.layer_fusion:
        figures.append(fused_figure(network, choice.batch, state=True))
    seen = all(choice.saw(*each, every_port=True) for each in figures)
    return MEASURED if seen else MODELLED
