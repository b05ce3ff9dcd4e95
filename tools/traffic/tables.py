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
from merp.tools.common.shortened import ROWS, dominant, in_one_format
from merp.tools.common.stored import stored_notes
from merp.tools.common.table import Sheet, console, fixed, table
from merp.tools.traffic.answer import going_back

ONE_PASS_NOTE: Final = "BP: DP and KU in one pass, of twice as many operations."


def is_published(network: Network, batch: int, count: Count) -> bool:
    """Return whether the paper's table 3 has these figures."""
    return (
        count.name == "maps" and batch == published.BATCH and published.is_papers_network(network)
    )


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
    compared = is_published(network, batch, count)
    screen = console()
    if errata:
        screen.print(_compared(network, traffic, batch))
        _print_errata()
        return
    screen.print(_measured(network, traffic, batch, count, whole))
    for name, layers in _sums(traffic).items():
        step = total(layers, "step")
        line = (
            f"Training step, {name}: {fixed(step.bytes / 1e6, 1)} MB, "
            f"{fixed(step.operations / 1e9, 1)} Gop, {fixed(step.mb_per_gflop, 3)} MB/GFlop"
        )
        if step.momentum:
            line += f"; momentum would add {fixed(step.momentum / 1e6, 1)} MB"
        screen.print(line)
    if compared:
        screen.print("--errata: the paper's values next to these, and where they do not reproduce.")


def _sums(traffic: Sequence[LayerTraffic]) -> dict[str, list[LayerTraffic]]:
    """Return the layers of each row of totals."""
    return {
        "conv layers": [each for each in traffic if each.layer.kind == "conv"],
        "all layers": list(traffic),
    }


def _measured(
    network: Network, traffic: Sequence[LayerTraffic], batch: int, count: Count, whole: bool
) -> Sheet:
    """Return the table of bytes, and bytes per operation."""
    weights = [total([each], "step").bytes for each in traffic]
    shown, others = dominant(weights, len(traffic) if whole else ROWS)
    rows = {traffic[index].layer.name: [traffic[index]] for index in shown}
    if others:
        rows[f"{len(others)} others"] = [traffic[index] for index in others]
    rows |= _sums(traffic)
    columns: dict[str, list[str]] = {"layer": list(rows)}
    for phase in (*PHASES, *going_back(network)):
        found = [total(layers, phase) if _has(layers, phase) else None for layers in rows.values()]
        columns[f"{phase.upper()} MB"] = in_one_format(
            [None if each is None else each.bytes / 1e6 for each in found], 2
        )
        columns[f"{phase.upper()} /GFlop"] = in_one_format(
            [None if each is None else each.mb_per_gflop for each in found], 3
        )
    notes = [bytes_of(network).caption(count), *stored_notes(network)]
    if network.backward == COMBINED:
        notes.insert(1, ONE_PASS_NOTE)
    if others:
        notes.append("Layers with the most bytes; --all: every layer.")
    return table(
        f"Memory traffic of {network.name}, batch {batch}: MB, and MB/GFlop",
        [head.removeprefix(head.split()[0] + " ") if "/" in head else head for head in columns],
        list(zip(*columns.values(), strict=True)),
        bundles=[2] * ((len(columns) - 1) // 2), totals=2, caption=" ".join(notes),
    )  # fmt: skip


def _has(layers: Sequence[LayerTraffic], phase: str) -> bool:
    """Return whether one of the layers has the phase."""
    return any(getattr(each, phase) is not None for each in layers)


def _compared(network: Network, traffic: Sequence[LayerTraffic], batch: int) -> Sheet:
    """Return the table of MB/GFlop with the paper's values."""
    rows = []
    sums = _sums(traffic)
    for name, layers in ({each.layer.name: [each] for each in traffic} | sums).items():
        printed = published.TABLE_3.get(name)
        if name == "conv layers":
            printed = published.TABLE_3_TOTAL
        operations = total(layers, "fp").operations
        row = [name, fixed(operations / 1e9, 2), fixed(printed.gop if printed else None, 2)]
        for phase in PHASES:
            ours = total(layers, phase).mb_per_gflop if _has(layers, phase) else None
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


def print_strategies(network: Network, layers: Sequence[Layer], batch: int) -> None:
    """Print the traffic of each strategy, and its on-chip memory, for each layer."""
    screen = console()
    papers = batch == published.BATCH and published.is_papers_network(network)
    for layer in layers:
        compared = papers and layer.name == published.STAIRCASE_LAYER
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
    if papers:
        _print_errata("section IV.")
