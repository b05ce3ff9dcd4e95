"""The tables of ``merp traffic``: ours, what the paper prints, and where it errs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from merp.models.network.network import Layer, Network
from merp.models.network.network_keys import COMBINED
from merp.models.network.phases import PHASES
from merp.models.traffic import published
from merp.models.traffic.bytes import bytes_of
from merp.models.traffic.closed_form import LayerTraffic, PhaseTraffic, total
from merp.models.traffic.count import Count
from merp.models.traffic.strategies import round_trips, staircase
from merp.tools.common.stored import stored_notes
from merp.tools.common.table import console, fixed, table
from merp.tools.traffic.answer import going_back

ONE_PASS_NOTE: Final = "BP: DP and KU in one pass, of twice as many operations."


def _row(
    name: str,
    phases: Mapping[str, PhaseTraffic | None],
    compared: bool,
    printed: published.Row | None,
) -> list[str]:
    """Return one row; ``compared`` tables have columns for what the paper prints, if anything."""
    forward = phases["fp"]
    assert forward is not None
    row = [name, fixed(forward.operations / 1e9, 3)]
    if compared:
        row.append(fixed(printed.gop if printed else None, 2))
    for key, phase in phases.items():
        row.append(fixed(phase.bytes / 1e6 if phase else None, 2))
        row.append(fixed(phase.mb_per_gflop if phase else None, 3))
        if compared:
            row.append(fixed(getattr(printed, key, None), 2))
    return row


def print_traffic(
    network: Network, traffic: Sequence[LayerTraffic], batch: int, count: Count
) -> None:
    """Print traffic per layer and phase, totals, and the paper's values where it has them."""
    compared = (
        count.name == "maps" and batch == published.BATCH and published.is_papers_network(network)
    )
    phases = (*PHASES, *going_back(network))
    columns = ["layer", "Gop"] + ["paper"] * compared
    for phase in phases:
        columns += [f"{phase.upper()} MB", "MB/GFlop"] + ["paper"] * compared
    rows = []
    for each in traffic:
        printed = published.TABLE_3.get(each.layer.name)
        own = {phase: getattr(each, phase) for phase in phases}
        rows.append(_row(each.layer.name, own, compared, printed))
    convolutions = [each for each in traffic if each.layer.kind == "conv"]
    sums = {"conv layers": convolutions, "all layers": list(traffic)}
    for name, layers in sums.items():
        printed = published.TABLE_3_TOTAL if layers is convolutions else None
        summed = {phase: total(layers, phase) for phase in phases}
        rows.append(_row(name, summed, compared, printed))
    screen = console()
    notes = [ONE_PASS_NOTE] if network.backward == COMBINED else []
    title = f"Memory traffic of {network.name}, batch {batch}"
    screen.print(
        table(
            title, columns, rows, bundles=[1 + compared] + [2 + compared] * len(phases),
            totals=len(sums),
            caption=" ".join([bytes_of(network).caption(count), *notes, *stored_notes(network)]),
        )
    )  # fmt: skip
    for name, layers in sums.items():
        step = total(layers, "step")
        line = (
            f"Training step, {name}: {fixed(step.bytes / 1e6, 1)} MB, "
            f"{fixed(step.operations / 1e9, 1)} Gop, {fixed(step.mb_per_gflop, 3)} MB/GFlop"
        )
        if step.momentum:
            line += f"; momentum would add {fixed(step.momentum / 1e6, 1)} MB"
        screen.print(line)
    if compared:
        _print_errata()


def _print_errata(section: str = "") -> None:
    """Print the errata; ``section`` restricts them to one section of the paper."""
    errata = [each for each in published.ERRATA if each.where.startswith(section)]
    rows = [(each.where, each.printed, each.found, each.why) for each in errata]
    columns = ("where", "printed", "by its own definitions", "why")
    console().print(table("Errata of the paper", columns, rows, text_columns=4))


def print_strategies(network: Network, layers: Sequence[Layer], batch: int) -> None:
    """Print what each strategy saves, and the memory it costs, for each layer."""
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
            "On-chip memory is that of one group."
        )
        caption = " ".join([caption, *stored_notes(network)])
        title = f"Strategies on {network.name} {layer.name}, batch {batch}"
        screen.print(table(title, columns, rows, text_columns=2, caption=caption))
    if papers:
        _print_errata("section IV.")
