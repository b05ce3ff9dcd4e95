"""Tables of the report about bytes: all counts, the strategies."""

from __future__ import annotations

from merp.models.base.errors import BadInput
from merp.models.machines.cnn_merp.plan.traffic import board_traffic
from merp.models.traffic import published
from merp.models.traffic.closed_form import network_traffic
from merp.models.traffic.count import Count, activation_bits
from merp.models.traffic.strategies import round_trips, staircase
from merp.tools.machines.cnn_merp.report.choice import PlannedChoice
from merp.tools.report.choice import ReportChoice
from merp.tools.report.table import LAYER, Column, Table
from merp.tools.report.traffic import KB, MB, traffic_table


def traffic_tables(choice: PlannedChoice) -> list[Table]:
    """Return one table per count. The count ``board`` requires a plan."""
    counts = (
        (
            "traffic-paper",
            "Count maps",
            Count(),
            "Count maps: feature and delta maps only, as table 3 of CNN-MERP counts.",
        ),
        (
            "traffic-full",
            "Count all, deltas at the resolution of the sums",
            Count(name="all", state="32"),
            f"Count all: maps, kernels, biases, and the {activation_bits(choice.network)}-bit "
            "activation for ReLU' and un-pooling; all kernels of a layer on chip.",
        ),
        (
            "traffic-pooled",
            "Count all, deltas at pooled resolution",
            Count(name="all", state="pooled"),
            "Count all, state pooled: deltas are stored at pooled resolution and are "
            "expanded on chip with a mask bit and a position per maximum.",
        ),
    )
    found = [
        traffic_table(
            choice, *each, network_traffic(choice.network_on(each[2]), choice.batch, each[2])
        )
        for each in counts
    ]
    if isinstance(choice.plan, BadInput):
        return found
    on_board = Count(name="board", state="pooled", board=choice.board)
    caption = (
        f"Count board: as all, state pooled, in the passes of the plan on board "
        f"{choice.board.name}, whose designs fit the {choice.part.name}."
    )
    layers = board_traffic(choice.network, choice.plan)
    return [
        *found,
        traffic_table(choice, "traffic-board", "Count board", on_board, caption, layers),
    ]


def staircase_table(choice: ReportChoice) -> Table:
    """Return savings and costs of each strategy, in every convolution layer."""
    network, batch = choice.network, choice.batch
    rows = []
    for layer in choice.convolutions:
        operations = layer.operations(batch)
        trips = round_trips(network, layer, batch)
        compared = choice.papers and layer.name == published.STAIRCASE_LAYER
        rows += [
            {
                "layer": layer.name,
                "strategies": step.level,
                "last": step.last,
                "input_bytes": step.input_bytes(network.at(layer)),
                "sum_bytes": step.sum_bytes(network.at(layer)),
                "mb_per_gflop": step.bytes(network.at(layer)) / operations * 1e3,
                "printed": published.STAIRCASE.get(step.level) if compared else None,
                "errata": ["printed"] if compared and step.level in ("1", "1-2") else [],
                "on_chip_bytes": step.on_chip_words * network.fmt.bytes,
                "trip_bytes": 0 if step.level == "1-5" else trips.activation + trips.pooling,
            }
            for step in staircase(layer, batch)
        ]
    printed = [Column(key="printed", label="printed", unit="MB/GFlop", digits=2)]
    columns = [
        LAYER,
        Column(key="strategies", label="strategies"),
        Column(key="last", label="the last one"),
        Column(key="input_bytes", label="inputs", unit="MB", digits=1, scale=MB),
        Column(key="sum_bytes", label="sums", unit="MB", digits=1, scale=MB),
        Column(key="mb_per_gflop", label="maps", unit="MB/GFlop", digits=3),
        *(printed if choice.papers else ()),
        Column(key="on_chip_bytes", label="the last costs on chip", unit="KB", digits=2, scale=KB),
        Column(key="trip_bytes", label="ReLU, pooling apart", unit="MB", digits=1, scale=MB),
    ]  # fmt: skip
    return Table(
        id="staircase",
        title="Strategies 1 to 5, layer by layer",
        caption=(
            "Count maps, FP: words of convolution maps of all groups, strategies accumulating. "
            "On-chip memory is that of one group. The last column is the traffic of separate ReLU "
            "and pooling layers, before strategy 5 fuses them. Modelled, except the last step, "
            "which is the hardware's."
        ),
        columns=columns,
        rows=rows,
    )
