"""Tables of the report about time: cycles, throughput, memory limits, rooflines."""

from __future__ import annotations

from typing import Any

from merp.models.base.ordered_sum import ordered_sum
from merp.models.machines.cnn_merp.published_speed import IMPLEMENTATIONS, WORKS, attainable_tops
from merp.models.machines.cnn_merp.roofline import RooflinePoint, point
from merp.models.machines.cnn_merp.throughput import Throughput, forward_throughput, with_cus
from merp.models.network.phases import ONE_PASS, PHASES
from merp.models.traffic.closed_form import network_traffic, total
from merp.models.traffic.count import Count
from merp.tools.common.stored import stored_formats, word_bytes
from merp.tools.machines.cnn_merp.report.choice import PlannedChoice
from merp.tools.report.table import LAYER, PHASE, Column, Table


def cycles_table(choice: PlannedChoice) -> Table:
    """Return cycles by cause, CU efficiency and time of each layer and phase."""
    rows: list[dict[str, Any]] = []
    for layer, phase, found in choice.cycles:
        rows.append(
            {
                "layer": layer.name,
                "phase": phase.upper(),
                "design": layer.design,
                "n_cu": found.n_cu,
                "kernel_load": found.kernel_load,
                "fill": found.fill,
                "issue": found.issue,
                "stall": sum(found.stalls.values()),
                "waits_for": found.waits_for,
                "drain": found.drain,
                "total": found.total,
                "efficiency": 100 * found.efficiency,
                "slot_efficiency": 100 * found.slot_efficiency,
                "milliseconds": 1e3 * choice.seconds(found.phase),
                "kernel_load_share": 100 * found.kernel_load / found.phase,
                "gflops": found.operations / choice.seconds(found.phase) / 1e9,
            }
        )
    for phase in (*PHASES, ONE_PASS, "step"):
        some = [found for _, each, found in choice.cycles if phase in (each, "step")]
        if not some:
            continue
        cycles = sum(found.phase for found in some)
        operations = sum(found.operations for found in some)
        rows.append(
            {
                "layer": "all with a design",
                "phase": "step" if phase == "step" else phase.upper(),
                "kernel_load": sum(found.kernel_load for found in some),
                "total": sum(found.total for found in some),
                "efficiency": 100
                * ordered_sum(x.ideal for x in some)
                / ordered_sum(x.total for x in some),
                "milliseconds": 1e3 * choice.seconds(cycles),
                "kernel_load_share": 100 * sum(found.kernel_load for found in some) / cycles,
                "gflops": operations / choice.seconds(cycles) / 1e9,
            }
        )
    return Table(
        id="cycles",
        title="Cycles and CU efficiency",
        caption=(
            f"Cycles of batch {choice.batch}, all groups, at {choice.clock_mhz:g} MHz. No count, "
            "because no bytes are counted. Total: first map word in to last word out. The time "
            "includes kernel loading, the total does not. Efficiency: of all cycles; slots: of "
            "issued slots. KU's drain is its update. Modelled."
        ),
        columns=[
            LAYER,
            PHASE,
            Column(key="design", label="design"),
            Column(key="n_cu", label="CUs", digits=0),
            Column(key="kernel_load", label="kernel load", unit="cycles", digits=0),
            Column(key="fill", label="fill", unit="cycles", digits=0),
            Column(key="issue", label="issue", unit="cycles", digits=0),
            Column(key="stall", label="stalls", unit="cycles", digits=0),
            Column(key="waits_for", label="most stalls"),
            Column(key="drain", label="drain", unit="cycles", digits=0),
            Column(key="total", label="total", unit="cycles", digits=0),
            Column(key="efficiency", label="efficiency", unit="%", digits=2),
            Column(key="slot_efficiency", label="slots", unit="%", digits=2),
            Column(key="milliseconds", label="time", unit="ms", digits=2),
            Column(key="kernel_load_share", label="kernel load", unit="% of time", digits=2),
            Column(key="gflops", label="reached", unit="GFlop/s", digits=1),
        ],
        rows=rows,
        totals=sum(row["layer"] == "all with a design" for row in rows),
    )


def throughput_table(choice: PlannedChoice) -> Table | None:
    """Return forward throughput by layer; for the paper's network on the paper's devices."""
    compared = choice.papers
    setups = (
        [(each.part, each.clock_mhz, each.cus) for each in IMPLEMENTATIONS]
        if compared
        else [(choice.part.name, choice.clock_mhz, 1)]
    )
    found = [
        forward_throughput(with_cus(choice.network, cus), choice.batch, clock)
        for _, clock, cus in setups
    ]
    some = [each for each in found if each is not None]
    if not some:
        return None
    rows: list[dict[str, Any]] = [
        {
            "layer": name,
            **_by_setup(some, lambda each, name=name: (each.peaks[name], each.modelled[name])),
        }
        for name in some[0].peaks
    ]
    rows.append(
        {"layer": "all, by operations", **_by_setup(some, lambda each: (None, each.overall))}
    )
    rows.append({"layer": "mean of layers", **_by_setup(some, lambda each: (each.mean_peak, None))})
    if compared:
        for index, each in enumerate(IMPLEMENTATIONS):
            rows[-2][f"printed_{index}"] = each.gflops
    columns = [LAYER]
    for index, (part, clock, cus) in enumerate(setups):
        where = f"{part}, {clock:g} MHz" + (f", {cus}x CUs" if cus > 1 else "")
        columns += [
            Column(key=f"peak_{index}", label=f"peak, {where}", unit="GFlop/s", digits=1),
            Column(
                key=f"modelled_{index}", label=f"cycle model, {where}", unit="GFlop/s", digits=1
            ),
        ]
        if compared:
            columns.append(
                Column(key=f"printed_{index}", label="printed", unit="GFlop/s", digits=0)
            )
    notes = ["Peak: every multiplier and adder of every CU is useful in each cycle."]
    if compared:
        small, large = IMPLEMENTATIONS
        notes += [
            f"CUs: {small.why}; on the larger part {large.why}.",
            f"The printed {small.gflops:g} and {large.gflops:g} GFlop/s are within 1 % of the "
            "unweighted mean of the five layers' peaks. Weighted by operations, as in the time of "
            f"a batch, the cycle model reaches {some[0].overall:.1f} on the smaller part.",
            f"On the larger part the printed value does not reproduce. This package's engine reads "
            f"one map word and writes one output word per cycle, and would reach "
            f"{some[1].overall:.0f} GFlop/s. The causes are accumulator hazards, and ports that "
            "are too narrow for this number of CUs. The paper does not describe how its larger "
            "design feeds them.",
        ]
    return Table(
        id="throughput",
        title="Throughput of forward propagation",
        caption=(
            f"GFlop/s of forward propagation, batch {choice.batch}, convolution layers with a "
            "design, with kernel loading and without reconfiguration. No count, because no bytes "
            "are counted. Modelled."
        ),
        columns=columns,
        rows=rows,
        totals=2,
        notes=notes,
    )


def _by_setup(found: list[Throughput], pick: Any) -> dict[str, float | None]:
    values: dict[str, float | None] = {}
    for index, each in enumerate(found):
        values[f"peak_{index}"], values[f"modelled_{index}"] = pick(each)
    return values


def attainable_table(choice: PlannedChoice) -> Table:
    """Return the throughput limit of the memory: for this network, and for the works of table 4."""
    rows: list[dict[str, Any]] = []
    word = word_bytes(choice.network)
    stored = "" if word is not None else f"; {stored_formats(choice.network)}"
    counts = (
        ("paper", Count(), "feature and delta maps, kernels left out"),
        ("full", Count(name="all", state="pooled"), "everything, deltas at pooled resolution"),
    )
    for name, count, includes in counts:
        layers = network_traffic(choice.network_on(count), choice.batch, count)
        convolutions = [each for each in layers if each.layer.kind == "conv"] or list(layers)
        for phase in ("fp", "step"):
            ratio = total(convolutions, phase).mb_per_gflop
            assert ratio is not None
            rows.append(
                {
                    "work": f"{choice.network.name}, {'FP' if phase == 'fp' else phase}, {name}",
                    "source": "this report",
                    "batch": choice.batch,
                    "bits": None if word is None else 8 * word,
                    "mb_per_gop": ratio,
                    "tops": attainable_tops(ratio, choice.bandwidth_gbs),
                    "includes": f"{includes}; modelled{stored}",
                }
            )
    if choice.papers:
        rows += [
            {
                "work": each.name,
                "source": "printed, table 4",
                "batch": each.batch,
                "bits": each.bits,
                "mb_per_gop": each.mb_per_gop,
                "tops": attainable_tops(each.mb_per_gop, choice.bandwidth_gbs),
                "printed_gops": each.gops,
                "includes": each.includes,
            }
            for each in WORKS
        ]
    return Table(
        id="attainable",
        title="Attainable throughput",
        caption=(
            f"Throughput limit of {choice.bandwidth_gbs:g} GB/s of external memory, without other "
            "limits. Count: each row's own, in its last column. Rows of different counts, widths "
            "and batches cannot be compared. A dash: the source does not give the value"
            + (", or words differ." if word is None else ".")
        ),
        columns=[
            Column(key="work", label="work"),
            Column(key="source", label="source"),
            Column(key="batch", label="batch", digits=0),
            Column(key="bits", label="word", unit="bit", digits=0),
            Column(key="mb_per_gop", label="traffic", unit="MB/Gop", digits=2),
            Column(key="tops", label="attainable", unit="Top/s", digits=2),
            Column(key="printed_gops", label="printed throughput", unit="Gop/s"),
            Column(key="includes", label="included traffic"),
        ],
        rows=rows,
    )


def roofline_table(choice: PlannedChoice) -> Table:
    """Return intensity, roofs and the limit of each layer and phase."""
    rows = []
    for layer, phase, found, at in roofline_points(choice):
        rows.append(
            {
                "layer": layer,
                "phase": phase.upper(),
                "intensity": at.intensity,
                "peak": at.peak,
                "compute": at.compute,
                "memory": at.memory,
                "attainable": at.attainable,
                "needed_gbs": at.compute / at.intensity,
                "bound": at.bound,
                "n_cu": found,
            }
        )
    return Table(
        id="roofline",
        title="Roofline",
        caption=(
            f"Count all, deltas at pooled resolution; batch {choice.batch}, "
            f"{choice.clock_mhz:g} MHz, {choice.bandwidth_gbs:g} GB/s. Peak: all CUs of the "
            "layer's design; schedule: at its cycles, kernel loading included; memory: "
            "limit of the bandwidth. Modelled."
        ),
        columns=[
            LAYER,
            PHASE,
            Column(key="n_cu", label="CUs", digits=0),
            Column(key="intensity", label="intensity", unit="Flop/B", digits=1),
            Column(key="peak", label="peak", unit="GFlop/s", digits=1),
            Column(key="compute", label="schedule", unit="GFlop/s", digits=1),
            Column(key="memory", label="memory", unit="GFlop/s", digits=0),
            Column(key="needed_gbs", label="bandwidth needed", unit="GB/s", digits=3),
            Column(key="attainable", label="attainable", unit="GFlop/s", digits=1),
            Column(key="bound", label="bound by"),
        ],
        rows=rows,
    )


def roofline_points(choice: PlannedChoice) -> list[tuple[str, str, int, RooflinePoint]]:
    """Return layer, phase, CUs and roofline position of everything that runs on a design."""
    count = Count(name="all", state="pooled")
    traffic = {
        each.layer.name: each for each in network_traffic(choice.network, choice.batch, count)
    }
    points = []
    for layer, phase, found in choice.cycles:
        moved = getattr(traffic[layer.name], phase).bytes
        at = point(found, moved, choice.clock_mhz, choice.bandwidth_gbs)
        points.append((layer.name, phase, found.n_cu, at))
    return points
