"""Tables of a comparison with measured values: pins, synthesis by Yosys, and accuracy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from merp.models.comparison.figure import Figure, derived
from merp.models.comparison.record import RESOURCES
from merp.models.fpga.parts import RAMB36_BITS
from merp.models.network.phases import PHASES, known_phases
from merp.tools.comparison.evidence import Evidence
from merp.tools.comparison.tables import NAME, TITLES, figure, put
from merp.tools.report.measurement import Measurement
from merp.tools.report.table import Column, Table

RTL: Final = "rtl"
STEP: Final = "step"
LABELS: Final = {phase: phase.upper() for phase in PHASES} | {STEP: STEP}
NETWORK: Final = Column(key="network", label="network")


def hardware_tables(found: Evidence) -> list[Table]:
    """Return the tables that have rows."""
    tables = (pins_table, ports_table, synthesis_table, learning_table)
    return [each for each in (table(found) for table in tables) if each.rows]


def _of(runs: Sequence[Measurement], part: str) -> list[Measurement]:
    """Return the runs whose bytes a phase includes, or those of the whole step."""
    return [each for each in runs if part in (_part_of(each) or each.phase, STEP)]


def _part_of(run: Measurement) -> str:
    """Return the phase whose bytes include those of a run, as pooling's; empty: its own."""
    found = known_phases().get(run.phase)
    return found.part_of if found else ""


def pins_table(found: Evidence) -> Table:
    """Return cycles and traffic of a step, measured in simulated hardware."""
    rows = []
    for name, runs in found.runs.items():
        first = runs[0]
        row: dict[str, Any] = {"architecture": name, "network": first.network.name}
        row |= {"images": first.images, "engine": ", ".join(sorted({x.engine for x in runs}))}
        row["words"] = sum(each.words_compared for each in runs)
        for part in LABELS:
            own = _of(runs, part)
            cycles = sum(sum(each.cycles.values()) for each in own)
            work = sum(
                each.layer.operations(each.images)
                for each in own
                if not _part_of(each)  # pooling has no multiply-adds
            )
            moved = sum(sum(each.moved.values()) for each in own)
            put(row, f"cycles_{part}", Figure(cycles, RTL))
            put(row, f"traffic_{part}", Figure(moved / work * 1e3, RTL) if work else None)
        rows.append(row)
    return Table(
        id="pins",
        title="On the pins",
        caption="A simulated step of this number of images, for the layers in scope. Every output "
        "word equals the golden model. Formula, walker, counters and monitors agree on all words. "
        "Cycles are from the first word of each pass to its last output word, including kernels, "
        "with ports that never wait. Traffic is of all ports but the velocities', count all.",
        columns=[
            NAME,
            NETWORK,
            Column(key="engine", label="engine"),
            Column(key="images", label="images", digits=0),
            Column(key="words", label="words compared", digits=0),
            *(figure(f"cycles_{part}", LABELS[part], "cycles", 0) for part in LABELS),
            *(figure(f"traffic_{part}", LABELS[part], "MB/GFlop", 2) for part in LABELS),
        ],
        rows=rows,
    )


def ports_table(found: Evidence) -> Table:
    """Return the words of a step on every port."""
    rows = []
    for name, runs in found.runs.items():
        sums = {part: Counter[str]() for part in LABELS}
        for part, words in sums.items():
            for each in _of(runs, part):
                words.update(each.words)
        for port, count in sorted(sums[STEP].items()):
            if count:
                row: dict[str, Any] = {"architecture": name, "port": port}
                for part, words in sums.items():
                    put(row, part, Figure(words[port], RTL) if words[port] else None)
                rows.append(row)
    return Table(
        id="ports",
        title="Words on ports",
        caption="Words of the same runs, counted by the monitors on the pins; the ReLU/pooling "
        "mask in bytes.",
        columns=[
            NAME,
            Column(key="port", label="port"),
            *(figure(part, LABELS[part], "words", 0) for part in LABELS),
        ],
        rows=rows,
    )


def synthesis_table(found: Evidence) -> Table:
    """Return the resources that a bitstream uses of a part."""
    rows = []
    for name, syntheses in found.syntheses.items():
        for each in syntheses:
            row: dict[str, Any] = {"architecture": name, "network": each.network}
            row |= {"bitstream": each.bitstream, "part": each.part, "path_ns": each.path_ns}
            for kind in RESOURCES:
                put(row, kind, each.used[kind])
            blocks = each.used["bram"]
            put(row, "chip", derived(blocks.value * RAMB36_BITS / 8, blocks))
            rows.append(row)
    return Table(
        id="synthesis",
        title="By our own synthesis",
        caption="Each bitstream in its AXI shell, in cells after synthesis by Yosys, not placed or "
        "routed. Block RAM in RAMB36. The longest path is an estimate.",
        columns=[
            NAME,
            NETWORK,
            Column(key="bitstream", label="bitstream"),
            Column(key="part", label="part"),
            *(figure(kind, TITLES[kind], "", 1 if kind == "bram" else 0) for kind in RESOURCES),
            figure("chip", "on chip", "MB", 3, 1e6),
            Column(key="path_ns", label="longest path", unit="ns", digits=1),
        ],
        rows=rows,
    )


def learning_table(found: Evidence) -> Table:
    """Return the accuracy of networks after the same steps, in the numbers of each."""
    rows = [
        {
            "architecture": name,
            "network": each.network,
            "engine": each.engine,
            "steps": each.steps,
            "batch": each.batch,
            "seed": each.seed,
            "held_out": each.held_out,
            "accuracy": 100 * each.accuracy,
        }
        for name, trainings in found.trainings.items()
        for each in trainings
    ]
    return Table(
        id="learning",
        title="Learned by the same steps",
        caption="Shares of held-out images with the right class. A golden engine computes the bits "
        "of the hardware, whose words are all compared with it.",
        columns=[
            NAME,
            NETWORK,
            Column(key="engine", label="engine"),
            *(Column(key=key, label=key, digits=0) for key in ("steps", "batch", "seed")),
            Column(key="held_out", label="held out", digits=0),
            Column(key="accuracy", label="right", unit="%", digits=2),
        ],
        rows=rows,
    )
