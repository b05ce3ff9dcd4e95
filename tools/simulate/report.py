"""The output of ``merp simulate``: JSON for programs, tables for people, pictures of maps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

from rich.console import Console

from merp.cosim.phases.audit.audit import BUS, COUNTS, Audit, combine
from merp.models.base.file_format import RUNS, numbered
from merp.models.base.names import file_name
from merp.models.network.phases import ONE_PASS, apart, called, phase_on
from merp.tools.common.bus_lines import bus_lines
from merp.tools.common.hardware import HARDWARE, hardware_sha
from merp.tools.common.shortened import ROWS, dominant, in_one_format
from merp.tools.common.table import Sheet, console, fixed, table
from merp.tools.simulate.choice import SimulationChoice
from merp.tools.simulate.result import PassResult
from merp.tools.simulate.simulated import CountedHalf, simulated_of

ENDS = ("fill", "drain")
"""Cycles before the first slot and after the last, on machines that count them."""


def answer(
    choice: SimulationChoice, results: Sequence[PassResult], *, everything: bool
) -> dict[str, Any]:
    """Return the answer as JSON: of one layer, or ``runs`` and their ``total`` for all layers."""
    runs = [_layer(choice, result) for result in results]
    if not everything:
        return numbered(runs[0], RUNS)
    total = combine([result.audit for result in results])
    halves = simulated_of(choice.network, choice.layers).counted_halves.values()
    found = {
        "network": choice.network.name,
        "engine": choice.engine,
        "cu_array": choice.array,
        "images": choice.images,
        "runs": runs,
        "total": {**audit_answer(total, halves), "operations": total.operations},
    }
    return numbered(found, RUNS)


def _layer(choice: SimulationChoice, result: PassResult) -> dict[str, Any]:
    layer = result.layer
    machine = simulated_of(choice.network, choice.layers)
    measured = audit_answer(result.audit, machine.counted_halves.values())
    model = machine.efficiency(choice, result)
    measured["cycles"] |= {"model": model, "lost": _lost(result.audit, machine.unit)}
    state = "state_out" in measured["ports"]
    back = phase_on(choice.network, layer, result.phase).backward
    before = back and choice.before
    return {
        "network": choice.network.name,
        "layer": called(choice.network, layer, result.phase),
        "group": "all" if choice.group is None else choice.group,
        "groups": layer.groups,
        "phase": result.phase,
        "engine": choice.engine,
        "cu_array": choice.array,
        **machine.about(choice, layer, result.phase),
        **({"deltas": "pooled" if before else "sums"} if back else {}),
        HARDWARE: hardware_sha(choice.network, layer, result.phase, state=state, before=before),
        "elaboration_sha": result.elaboration_sha,
        "images": choice.images,
        "rows": layer.shape.rows,
        "operations": result.audit.operations,
        **measured,
        "build_seconds": round(result.build_seconds, 3),
    }


def _stalls(cycles: Mapping[str, int], half: str = "") -> dict[str, int]:
    """Return stalls by cause; ``half`` is the prefix of its counters' names."""
    begin = f"{half}stall_"
    return {
        name.removeprefix(begin): count for name, count in cycles.items() if name.startswith(begin)
    }


def _half_answer(audit: Audit, halves: Iterable[CountedHalf]) -> dict[str, Any]:
    """Return the cycles of a half's slots as JSON, if a pass counts them separately."""
    found = {}
    for name in (half.begins for half in halves):
        half = {
            counter.removeprefix(f"{name}_"): count
            for counter, count in audit.cycles.items()
            if counter.startswith(f"{name}_")
        }
        if half:
            plain = {key: count for key, count in half.items() if not key.startswith("stall_")}
            found[name] = plain | {"stall": _stalls(half)}
    return found


def audit_answer(audit: Audit, halves: Iterable[CountedHalf] = ()) -> dict[str, Any]:
    """Return bits, words, cycles and failures of an audit as JSON; ``halves``: possible halves."""
    cycles = audit.cycles
    ideal = audit.ideal
    return {
        "bit_exact": audit.bit_exact,
        "mismatches": audit.mismatches,
        "words_compared": audit.words_compared,
        "ports": {port: dict(ways) for port, ways in audit.ports.items()},
        "cycles": {
            "total": cycles["total"],
            **({"kernel_load": cycles["kernel_load"]} if "kernel_load" in cycles else {}),
            "issue": cycles["issue"],
            "ideal": int(ideal) if ideal == int(ideal) else ideal,
            **{end: cycles[end] for end in ENDS if end in cycles},
            "efficiency": audit.efficiency,
            "slot_efficiency": audit.slot_efficiency,
            "stall": _stalls(cycles),
            **_half_answer(audit, halves),
        },
        "mb_per_gflop": _mb_per_gflop(audit),
        **({"bus": audit.bus.answer} if audit.bus is not None else {}),
        "failures": list(audit.failures),
        "seconds": round(audit.seconds, 3),
    }


def _lost(audit: Audit, unit: str) -> dict[str, float]:
    """Return the shares of all cycles without useful work, by cause, the largest first."""
    cycles = audit.cycles
    causes = {
        f"idle {unit}s": cycles["issue"] - audit.ideal,
        **{end: cycles[end] for end in ENDS if end in cycles},
        **{f"stall {cause}": waits for cause, waits in _stalls(cycles).items()},
    }
    total = cycles["total"]
    ranked = sorted(causes.items(), key=lambda each: -each[1])
    return {cause: lost / total for cause, lost in ranked if lost > 0} if total else {}


def _mb_per_gflop(audit: Audit) -> dict[str, float | None]:
    """Return the traffic measured on the pins: for ports of maps and deltas, and for every port."""
    return {
        "paper": audit.mb_per_gflop(audit.maps),
        "full": audit.mb_per_gflop(tuple(audit.ports)),
    }


def show(
    choice: SimulationChoice,
    results: Sequence[PassResult],
    screen: Console | None = None,
    *,
    details: bool,
) -> None:
    """Print words by port and way of counting, the bits, and the cycles.

    Several results are a row each, unless ``details`` are requested.
    """
    screen = screen or console()
    for line in (
        apart(choice.network, choice.layers) if {"dp", "ku", ONE_PASS} & set(choice.phases) else ()
    ):
        screen.print(f"Not in one pass: {line}")
    if details or len(results) == 1:
        for result in results:
            _show_layer(choice, result, screen, details=details)
    else:
        _show_rows(choice, results, screen)
    if len(results) > 1:
        total = combine([result.audit for result in results])
        screen.print(f"All {len(results)} passes: {verdict(total)}; {time_taken(total)}")
        show_bus(total, screen)


def _show_rows(choice: SimulationChoice, results: Sequence[PassResult], screen: Console) -> None:
    """Print a row for each result: those that failed, and those with the most cycles."""
    machine = simulated_of(choice.network, choice.layers)
    screen.print(
        f"{choice.network.name}, {choice.images} image(s), engine {choice.engine}, "
        f"{machine.unit} array {choice.array}",
        style="bold",
    )
    weights = [result.audit.whole if result.audit.passed else float("inf") for result in results]
    failed = sum(not result.audit.passed for result in results)
    shown, others = dominant(weights, max(ROWS, failed))
    moved = in_one_format([_mb_per_gflop(results[index].audit)["paper"] for index in shown], 2)
    rows = []
    for index, traffic in zip(shown, moved, strict=True):
        result = results[index]
        audit, counts = result.audit, result.audit.ports.values()
        equal = all(len(set(ways.values())) == 1 for ways in counts)
        rows.append(
            [
                called(choice.network, result.layer, result.phase),
                result.phase,
                "equal" if audit.bit_exact else f"{audit.mismatches:,} differ",
                "equal" if equal else "DIFFER",
                f"{sum(ways['monitor'] for ways in counts):,}",
                f"{audit.whole:,}",
                f"{100 * audit.efficiency:.1f}",
                traffic,
            ]
        )
    columns = ["layer", "phase", "bits", "counts", "words", "cycles", "busy, %", "MB/GFlop"]
    caption = (
        "bits: the outputs and the golden model. counts: words of each port by formula, schedule "
        "walk, hardware counter and monitor. MB/GFlop: measured, count maps."
    )
    if others:
        caption += f" {len(others)} passes with fewer cycles passed, too."
    screen.print(table("", columns, rows, text_columns=4, keys=2, caption=caption))
    for result in results:
        name = called(choice.network, result.layer, result.phase)
        for failure in result.audit.failures:
            screen.print(f"FAILED    {name} {result.phase}: {failure}", style="bold red")
    screen.print("--details: words by port and cycles by cause of every pass.")


def _show_layer(
    choice: SimulationChoice, result: PassResult, screen: Console, *, details: bool
) -> None:
    layer, audit = result.layer, result.audit
    machine = simulated_of(choice.network, choice.layers)
    group = "all groups" if choice.group is None else f"group {choice.group}"
    part = "" if choice.rows is None else f", first {choice.rows} rows"
    name = called(choice.network, layer, result.phase)
    screen.print(
        f"{choice.network.name} {name} {result.phase}{part}, {group} of {layer.groups}: "
        f"{choice.images} image(s), {machine.hardware(choice, layer, result.phase)}, "
        f"engine {choice.engine}, {machine.unit} array {choice.array}",
        style="bold",
    )
    bus = [BUS] if any(BUS in counts for counts in audit.ports.values()) else []
    ways = [*COUNTS, *bus, *(["waveform"] if choice.wave is not None else [])]
    screen.print(words_table(audit, ways))
    measured = _mb_per_gflop(audit)
    screen.print(f"bits      {verdict(audit)}")
    load = audit.cycles.get("kernel_load")
    said = "" if load is None else f"; kernel load {load:,}"
    screen.print(f"cycles    {_account(audit, '')}{said}")
    half = machine.counted_halves.get(result.phase)
    if half is not None:
        account = _account(audit, f"{half.begins}_")
        screen.print(f"          of {half.whose} slots: {account}")
    screen.print(
        f"{machine.unit + 's':9} {100 * audit.efficiency:.2f} % of all cycles "
        f"(ideal {fixed(audit.ideal, 0)}), "
        f"{100 * audit.slot_efficiency:.2f} % of issued slots"
    )
    model = machine.efficiency(choice, result)
    said = "" if model is None else f"; the cycle model says {100 * model:.2f} %"
    lost = [f"{cause} {100 * share:.2f} %" for cause, share in _lost(audit, machine.unit).items()]
    screen.print(f"lost      {', '.join(lost) or 'nothing'}{said}")
    screen.print(f"traffic   {_traffic(audit, measured['paper'])}, count maps")
    if details:
        screen.print(f"          {_traffic(audit, measured['full'])}, on all ports")
    show_bus(audit, screen)
    built = f", after {result.build_seconds:.1f} s of building"
    screen.print(f"time      {time_taken(audit)}{built}")
    for failure in audit.failures:
        screen.print(f"FAILED    {failure}", style="bold red")
    screen.print()


def _traffic(audit: Audit, measured: float | None) -> str:
    """Return the measured traffic; of passes without operations, the bytes on all ports."""
    if measured is None:
        return f"{sum(audit.moved.values()):,} bytes measured, no operations"
    return f"{measured:.3f} MB/GFlop measured"


def show_bus(audit: Audit, screen: Console) -> None:
    """Print the lines of the memory bus, if runs had one."""
    for line in () if audit.bus is None else bus_lines(audit.bus.answer):
        screen.print(line)


def words_table(audit: Audit, ways: Sequence[str]) -> Sheet:
    """Return a table of the words of each port, with a column for each way of counting."""
    heads = [way.replace("_", " ") for way in ways]
    rows = [
        [port, *(f"{counts[way]:,}" for way in ways), _equal(list(counts.values()))]
        for port, counts in audit.ports.items()
    ]
    return table("", ["words", *heads, "equal"], rows)


def _account(audit: Audit, half: str) -> str:
    """Return cycles by cause; ``half`` is the prefix of its counters' names."""
    cycles = audit.cycles
    stalls = ", ".join(f"{cause} {waits:,}" for cause, waits in _stalls(cycles, half).items())
    causes = [name for name in ("issue", *ENDS) if half + name in cycles]
    parts = " + ".join(f"{name} {cycles[half + name]:,}" for name in causes)
    return f"{cycles[f'{half}total']:,} = {parts} + stalls ({stalls})"


def _equal(counts: Sequence[int]) -> str:
    return "yes" if len(set(counts)) == 1 else "NO"


def verdict(audit: Audit) -> str:
    """Return whether the bits equal the golden model's."""
    if audit.bit_exact:
        return f"equal to the golden model: {audit.words_compared:,} words compared, 0 differ"
    return f"NOT EQUAL to the golden model: {audit.mismatches:,} differ of {audit.words_compared:,}"


def time_taken(audit: Audit) -> str:
    """Return the seconds of a simulation, and its speed."""
    speed = audit.whole / audit.seconds if audit.seconds else 0.0
    return f"{audit.seconds:.1f} s for {audit.whole:,} cycles ({speed:,.0f} cycles/s)"


def files(
    choice: SimulationChoice, results: Sequence[PassResult], report: dict[str, Any], golden: Any
) -> dict[str, str | bytes]:
    """Return ``simulate.json``, ``simulate.txt`` and a picture per layer, by name."""
    text = StringIO()
    show(choice, results, console(text), details=True)
    found: dict[str, str | bytes] = {
        "simulate.json": json.dumps(report, indent=2) + "\n",
        "simulate.txt": text.getvalue(),
    }
    return found | pictures(choice, results, golden)


def pictures(
    choice: SimulationChoice, results: Sequence[PassResult], golden: Any
) -> dict[str, bytes]:
    """Return a PNG picture per layer of forward propagation, by name."""
    from merp.tools.simulate.map_picture import draw  # imports Matplotlib only if needed

    found, machine = {}, simulated_of(choice.network, choice.layers)
    for result in results:
        if result.outputs is None:
            continue
        group = choice.group
        name = called(choice.network, result.layer, result.phase)
        names = [choice.network.name, name] + ([] if group is None else [f"g{group}"])
        title = file_name(*names, suffix="")
        found[f"{title}.png"] = draw(title, *machine.shown(choice, golden, result))
    return found
