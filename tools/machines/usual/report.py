"""The report on a network of any machine: its traffic, its cycles, and its measured numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from merp.cosim.machines.loader import phase_of
from merp.models.fpga.board import Board
from merp.models.network.network import Layer, Network
from merp.models.network.phases import has_phase, phase_operations, phases_of_step
from merp.models.network.registry import cycles_of, machine_that_runs
from merp.models.traffic.bytes import bytes_of
from merp.models.traffic.closed_form import total
from merp.models.traffic.count import Count
from merp.tools.common.boards import PAPER, any_board
from merp.tools.common.stored import words_answer
from merp.tools.report.alternatives import alternatives
from merp.tools.report.choice import ReportChoice
from merp.tools.report.measured_table import measured_table
from merp.tools.report.measurement import Measurement, check_hardware, faults_of, monitored
from merp.tools.report.record import read_runs
from merp.tools.report.reports import Report
from merp.tools.report.table import LAYER, PHASE, Column, Table
from merp.tools.report.traffic import traffic_table

COUNTS: Final = tuple(Count(name=name) for name in ("maps", "all"))


def _turns(network: Network, layer: Layer, phase: str, port: str, images: int) -> int:
    """Return how often a port moves its words: once in a run, or once for every image.

    The words of two images decide which.
    """
    words = phase_of(network, layer, phase).words
    return images if words(layer, 2)[port] != words(layer, 1)[port] else 1


@dataclass(frozen=True, kw_only=True)
class RunRules:
    """Properties of runs that depend on the machine.

    Attributes:
        turns: as in ``Measurement``, of a phase of a layer.
        word_bytes: bytes of a word on a port.
        not_compared: words on the output ports of a run of one group that have no meaning.
    """

    turns: Callable[[Network, Layer, str, str, int], int] = _turns
    word_bytes: Callable[[Network, str], int] = lambda network, port: network.fmt.bytes
    not_compared: Callable[[Network, Layer, str, int], int] = lambda *_: 0


USUAL_RUNS: Final = RunRules()


def read_records(
    directories: Sequence[Path], network: Network, rules: RunRules = USUAL_RUNS
) -> list[Measurement]:
    """Read the records of ``directories``, in order.

    Raises:
        BadInput: there is no record, it is not valid, or it belongs to another network or other
            hardware.
    """
    found = []
    for directory in directories:
        path, runs = read_runs(directory, network, {})
        for run in runs:
            measured = _measurement(path, run, network, rules)
            check_hardware(run, measured)
            found.append(measured)
    return found


def _measurement(
    path: Path, run: Mapping[str, Any], network: Network, rules: RunRules
) -> Measurement:
    layer, phase, images = network.layer(run["layer"]), run["phase"], run["images"]
    groups = layer.groups if run["group"] == "all" else 1
    there = has_phase(network, layer, phase)
    words = phase_of(network, layer, phase).words(layer, images) if there else {}
    found = monitored(run)
    moved = {port: count * rules.word_bytes(network, port) for port, count in found.items()}
    cycles = cycles_of(network, layer, phase, images) if there else None
    compared = sum(count for port, count in found.items() if port.endswith("_out"))
    if there:
        compared -= groups * rules.not_compared(network, layer, phase, images)
    return Measurement(
        network=network,
        record=path,
        layer=layer,
        phase=phase,
        command=_command(run),
        engine=run["engine"],
        images=images,
        groups=groups,
        deltas="sums",
        turns=partial(rules.turns, network, layer, phase),
        words=found,
        moved=moved,
        fingerprint=run["elaboration_sha"],
        words_compared=run["words_compared"],
        cycles={"total": run["cycles"]["total"]},
        units=1,
        modelled=None if cycles is None else cycles.total * groups // layer.groups,
        faults=faults_of(
            run,
            network,
            layer,
            operations=phase_operations(layer, phase, images) * groups // layer.groups,
            moved=moved,
            expected={port: count * groups for port, count in words.items()},
            compared=compared,
        ),
    )


def _command(run: Mapping[str, Any]) -> str:
    parts = [f"merp simulate {run['network']} --layer {run['layer']} --phase {run['phase']}"]
    parts += [f"--group {run['group']}"] if run["groups"] > 1 else []
    return " ".join([*parts, f"--images {run['images']} --engine {run['engine']}"])


def document(choice: ReportChoice, beside: Path) -> dict[str, Any]:
    """Return the report, its links relative to the folder ``beside``."""
    network, batch = choice.network, choice.batch
    machine, formulas = machine_that_runs(network).name, bytes_of(network)
    traffic = [
        traffic_table(
            choice, f"traffic-{each.json_name}", f"Count {each.name}", each, formulas.caption(each),
            formulas.layers(network, batch, each),
        )
        for each in COUNTS
    ]  # fmt: skip
    sections = [
        ("traffic", "Traffic per layer and phase", "Counts, never mixed.", traffic, ["traffic"]),
        ("cycles", "Cycles", "By the model of the machine.", [_cycles_table(choice)], []),
        (
            "measured", "Measured and modelled", "The numbers that the hardware confirmed.",
            [measured_table(choice, beside)], [],
        ),
    ]  # fmt: skip
    step = total(formulas.layers(network, batch, COUNTS[-1]), "step")
    headline = [
        {
            "label": "Training traffic", "value": step.mb_per_gflop or 0.0, "digits": 2,
            "unit": "MB/GFlop", "note": "all layers, count all",
        }
    ]  # fmt: skip
    found: dict[str, Any] = {
        "network": network.name,
        "title": f"{network.name}: training on {machine}",
        "lead": f"Batch {batch}, {choice.part.name} at {choice.clock_mhz:g} MHz, "
        f"{choice.bandwidth_gbs:g} GB/s of external memory.",
        "batch": batch,
        **words_answer(network),
        "machine": machine,
        "board": choice.board.name,
        "part": choice.part.name,
        "clock_mhz": choice.clock_mhz,
        "bandwidth_gbs": choice.bandwidth_gbs,
        "version": metadata.version("merp"),
        "headline": headline,
        "summary": f"Training traffic {step.mb_per_gflop or 0.0:,.2f} MB/GFlop",
        "assumptions": [
            "MB is 10^6 bytes, a multiply-add is two operations, GFlop is 10^9 operations.",
            f"The clock of {choice.clock_mhz:g} MHz is the board's, not a synthesis result.",
        ],
        "figures": {"traffic": "Traffic by layer and phase, count maps."},
        "sections": [
            {
                "id": id, "title": title, "text": text, "charts": charts,
                "tables": [each.id for each in tables],
            }
            for id, title, text, tables, charts in sections
        ],
        "tables": {each.id: each.json() for _, _, _, tables, _ in sections for each in tables},
    }  # fmt: skip
    return found | {"alternatives": alternatives(found)}


def _cycles_table(choice: ReportChoice) -> Table:
    rows = []
    for layer in choice.network.layers:
        for phase in phases_of_step(choice.network):
            if has_phase(choice.network, layer, phase):
                found = cycles_of(choice.network, layer, phase, choice.batch)
                cycles = None if found is None else found.kernel_load + found.total
                seconds = None if cycles is None else 1e3 * choice.seconds(cycles)
                row = {"layer": layer.name, "phase": phase.upper()}
                rows.append({**row, "cycles": cycles, "milliseconds": seconds})
    return Table(
        id="cycles",
        title="Cycles of a batch",
        caption="Modelled, with kernel loading; streams without stalls.",
        columns=[
            LAYER,
            PHASE,
            Column(key="cycles", label="cycles", digits=0),
            Column(key="milliseconds", label="time", unit="ms", digits=3),
        ],
        rows=rows,
    )


def report_with(rules: RunRules) -> Report:
    """Return the report of a machine whose runs have these properties."""

    def records(directories: Sequence[Path], network: Network) -> list[Measurement]:
        return read_records(directories, network, rules)

    def choice(
        network: Network, batch: int, board: Board, directories: Sequence[Path]
    ) -> ReportChoice:
        measured = records(directories, network)
        return ReportChoice(network=network, batch=batch, board=board, measured=measured)

    return Report(board=PAPER, opened=any_board, records=records, choice=choice, document=document)


REPORT = report_with(USUAL_RUNS)
