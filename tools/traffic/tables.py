"""The tables of ``merp traffic``: merp's values, the paper's, and the paper's errata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from merp.models.network.network import Layer, Network
from merp.models.network.network_keys import COMBINED
from merp.models.network.phases import PHASES
from merp.models.traffic import published
from merp.models.traffic.bytes import bytes_of
from merp.models.traffic.closed_form import LayerTraffic, total
from merp.models.traffic.count import Count
from merp.models.traffic.strategies import round_trips, staircase
from merp.tools.common.shortened import ROWS, in_one_format, shortened
from merp.tools.common.stored import stored_notes
from merp.tools.common.table import Sheet, console, fixed, table
from merp.tools.traffic.answer import going_back

ONE_PASS_NOTE: Final = "BP: DP and KU in one pass, of twice as many operations."


def has_papers_layers(network: Network, batch: int) -> bool:
    """Return whether the paper has figures of this network and batch."""
    return batch == published.BATCH and published.is_papers_network(network)


def is_published(network: Network, batch: int, count: Count) -> bool:
    """Return whether the paper's table 3 has these figures."""
    return count.name == "maps" and has_papers_layers(network, batch)


def print_traffic(
    network: Network,
    traffic: Sequence[LayerTraffic],
    batch: int,
    count: Count,
    *,
    whole: bool = False,
    errata: bool = False,
) -> None:
    """Print traffic per layer and phase, and totals.

    Args:
        network: of the layers.
        traffic: one for each layer.
        batch: images of a step.
        count: which words the bytes include.
        whole: print every layer, not only those with the most bytes.
        errata: print the paper's values next to merp's, and its errata. Needs ``is_published``.
    """
    screen = console()
    if errata:
        screen.print(_compared(network, traffic, batch))
        _print_errata()
        return
    screen.print(_measured(network, traffic, batch, count, whole))
    for name, layers in _sums(traffic):
        step = total(layers, "step")
        line = (
            f"Training step, {name}: {fixed(step.bytes / 1e6, 1)} MB, "
            f"{fixed(step.operations / 1e9, 1)} Gop, {fixed(step.mb_per_gflop, 3)} MB/GFlop"
        )
        if step.momentum:
            line += f"; momentum would add {fixed(step.momentum / 1e6, 1)} MB"
        screen.print(line)
    if is_published(network, batch, count):
        screen.print("--errata: the paper's values next to these, and where they do not reproduce.")


def _sums(traffic: Sequence[LayerTraffic]) -> list[tuple[str, list[LayerTraffic]]]:
    """Return the name and the layers of each row of totals."""
    convolutions = [each for each in traffic if each.layer.kind == "conv"]
    return [("conv layers", convolutions), ("all layers", list(traffic))]


def _measured(
    network: Network, traffic: Sequence[LayerTraffic], batch: int, count: Count, whole: bool
) -> Sheet:
    """Return the table of bytes, and bytes per operation."""
    layers = [(each.layer.name, each) for each in traffic]
    rows = shortened(
        layers, lambda each: total([each], "step").bytes, len(layers) if whole else ROWS
    )
    notes = [bytes_of(network).caption(count), *stored_notes(network)]
    if network.backward == COMBINED:
        notes.insert(1, ONE_PASS_NOTE)
    if len(rows) < len(layers):
        notes.append("Layers with the most bytes; --all: every layer.")
    rows += _sums(traffic)
    phases = (*PHASES, *going_back(network))
    heads, columns = ["layer"], [[name for name, _ in rows]]
    for phase in phases:
        found = [total(some, phase) if _has(some, phase) else None for _, some in rows]
        heads += [f"{phase.upper()} MB", "/GFlop"]
        columns += [
            in_one_format([None if each is None else each.bytes / 1e6 for each in found], 2),
            in_one_format([None if each is None else each.mb_per_gflop for each in found], 3),
        ]
    return table(
        f"Memory traffic of {network.name}, batch {batch}: MB, and MB/GFlop", heads,
        list(zip(*columns, strict=True)), bundles=[2] * len(phases), totals=2,
        caption=" ".join(notes),
    )  # fmt: skip


def _has(layers: Sequence[LayerTraffic], phase: str) -> bool:
    """Return whether one of the layers has the phase."""
    return any(getattr(each, phase) is not None for each in layers)


def _compared(network: Network, traffic: Sequence[LayerTraffic], batch: int) -> Sheet:
    """Return the table of MB/GFlop with the paper's values."""
    layers = [(each.layer.name, [each], published.TABLE_3.get(each.layer.name)) for each in traffic]
    totals = (published.TABLE_3_TOTAL, None)
    sums = [(*each, printed) for each, printed in zip(_sums(traffic), totals, strict=True)]
    rows = []
    for name, some, printed in layers + sums:
        operations = total(some, "fp").operations
        row = [name, fixed(operations / 1e9, 2), fixed(printed.gop if printed else None, 2)]
        for phase in PHASES:
            ours = total(some, phase).mb_per_gflop if _has(some, phase) else None
            row += [fixed(ours, 3), fixed(getattr(printed, phase, None), 2)]
        rows.append(row)
    heads = [head for phase in PHASES for head in (phase.upper(), "paper")]
    return table(
        f"MB/GFlop of {network.name}, batch {batch}, and of the paper's table 3",
        ["layer", "Gop", "paper", *heads], rows, bundles=[2] * (1 + len(PHASES)), totals=len(sums),
    )  # fmt: skip


def _print_errata(section: str = "") -> None:
    """Print the errata; ``section`` restricts them to one section of the paper."""
    errata = [each for each in published.ERRATA if each.where.startswith(section)]
    rows = [(each.where, each.printed, each.found, each.why) for each in errata]
    columns = ("where", "printed", "by its own definitions", "why")
    console().print(table("Errata of the paper", columns, rows, text_columns=4))


def print_strategies(
    network: Network, layers: Sequence[Layer], batch: int, *, errata: bool
) -> None:
    """Print the traffic of each strategy, and its on-chip memory, for each layer.

    errata: print the errata of the paper's section on strategies, too.
    """
    screen = console()
    for layer in layers:
        compared = has_papers_layers(network, batch) and layer.name == published.STAIRCASE_LAYER
        operations = layer.operations(batch)
        rows = []
        for step in staircase(layer, batch):
            row = [
                step.level,
                step.last,
                fixed(step.input_bytes(network.at(layer)) / 1e6, 1),
                fixed(step.sum_bytes(network.at(layer)) / 1e6, 1),
                fixed(step.bytes(network.at(layer)) / operations * 1e3, 3),
            ]
            if compared:
                row.append(fixed(published.STAIRCASE.get(step.level), 2))
            rows.append([*row, fixed(step.on_chip_words * network.fmt.bytes / 1e3, 2)])
        columns = ["strategies", "the last one", "inputs MB", "sums MB", "MB/GFlop"]
        columns += ["paper"] * compared + ["last one costs, KB"]
        trips = round_trips(network, layer, batch)
        caption = (
            "Convolution maps of all groups. Until strategy 5 fuses ReLU and pooling they move "
            f"another {fixed(trips.activation / 1e6, 1)} and {fixed(trips.pooling / 1e6, 1)} MB. "
            "On-chip memory is for one group."
        )
        caption = " ".join([caption, *stored_notes(network)])
        title = f"Strategies on {network.name} {layer.name}, batch {batch}"
        screen.print(table(title, columns, rows, text_columns=2, caption=caption))
    if errata:
        _print_errata("section IV.")
