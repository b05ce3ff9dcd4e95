"""What ``merp simulate`` says: JSON for machines, tables for people, pictures of maps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

from rich.console import Console

from merp.cosim.phases.audit.audit import COUNTS, Audit, combine
from merp.models.base.names import file_name
from merp.models.network.phases import ONE_PASS, apart, called, phase_on
from merp.tools.common.hardware import HARDWARE, hardware_sha
from merp.tools.common.table import Sheet, console, fixed, table
from merp.tools.simulate.choice import SimulationChoice
from merp.tools.simulate.result import PassResult
from merp.tools.simulate.simulated import CountedHalf, simulated_of

ENDS = ("fill", "drain")
"""Cycles before the first slot and behind the last, of machines that count them."""


def answer(
    choice: SimulationChoice, results: Sequence[PassResult], *, everything: bool
) -> dict[str, Any]:
    """The answer as JSON: of one layer, or ``runs`` and their ``total`` with all layers."""
    runs = [_layer(choice, result) for result in results]
    if not everything:
        return runs[0]
    total = combine([result.audit for result in results])
    halves = simulated_of(choice.network, choice.layers).counted_halves.values()
    return {
        "network": choice.network.name,
        "engine": choice.engine,
        "cu_array": choice.array,
        "images": choice.images,
        "runs": runs,
        "total": {**audit_answer(total, halves), "operations": total.operations},
    }


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
    """Stalls by cause; ``half``: what the names of its counters begin with."""
    begin = f"{half}stall_"
    return {
        name.removeprefix(begin): count for name, count in cycles.items() if name.startswith(begin)
    }


def _half_answer(audit: Audit, halves: Iterable[CountedHalf]) -> dict[str, Any]:
    """Cycles of a half's slots, where one pass counts them apart, as JSON."""
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
    """Bits, words, cycles, failures of an audit, as JSON; ``halves``: that it may have."""
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
        "failures": list(audit.failures),
        "seconds": round(audit.seconds, 3),
    }


def _lost(audit: Audit, unit: str) -> dict[str, float]:
    """Share of all cycles in which units do nothing useful, by cause, the largest first."""
    cycles = audit.cycles
    causes = {
        f"idle {unit}s": cycles["issue"] - audit.ideal,
        **{end: cycles[end] for end in ENDS if end in cycles},
        **{f"stall {cause}": waits for cause, waits in _stalls(cycles).items()},
    }
    total = cycles["total"]
    ranked = sorted(causes.items(), key=lambda each: -each[1])
    return {cause: lost / total for cause, lost in ranked if lost > 0} if total else {}


def _mb_per_gflop(audit: Audit) -> dict[str, float]:
    """Measured on the pins: the ports of maps and deltas, and every port."""
    return {
        "paper": audit.mb_per_gflop(audit.maps),
        "full": audit.mb_per_gflop(tuple(audit.ports)),
    }


def show(
    choice: SimulationChoice, results: Sequence[PassResult], screen: Console | None = None
) -> None:
    """Print, per layer, words by port and way of counting, the bits, and the cycles."""
    screen = screen or console()
    for line in (
        apart(choice.network, choice.layers) if {"dp", "ku", ONE_PASS} & set(choice.phases) else ()
    ):
        screen.print(f"Not in one pass: {line}")
    for result in results:
        _show_layer(choice, result, screen)
    if len(results) > 1:
        total = combine([result.audit for result in results])
        screen.print(f"All {len(results)} passes: {verdict(total)}; {time_taken(total)}")


def _show_layer(choice: SimulationChoice, result: PassResult, screen: Console) -> None:
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
    ways = [*COUNTS, *(["waveform"] if choice.wave is not None else [])]
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
    screen.print(
        f"traffic   {measured['paper']:.3f} MB/GFlop measured, count maps (maps); "
        f"{measured['full']:.3f} on all ports"
    )
    built = f", after {result.build_seconds:.1f} s of building"
    screen.print(f"time      {time_taken(audit)}{built}")
    for failure in audit.failures:
        screen.print(f"FAILED    {failure}", style="bold red")
    screen.print()


def words_table(audit: Audit, ways: Sequence[str]) -> Sheet:
    """Words of each port by way of counting."""
    heads = [way.replace("_", " ") for way in ways]
    rows = [
        [port, *(f"{counts[way]:,}" for way in ways), _equal(list(counts.values()))]
        for port, counts in audit.ports.items()
    ]
    return table("", ["words", *heads, "equal"], rows)


def _account(audit: Audit, half: str) -> str:
    """Cycles by cause; ``half``: what the names of its counters begin with."""
    cycles = audit.cycles
    stalls = ", ".join(f"{cause} {waits:,}" for cause, waits in _stalls(cycles, half).items())
    causes = [name for name in ("issue", *ENDS) if half + name in cycles]
    parts = " + ".join(f"{name} {cycles[half + name]:,}" for name in causes)
    return f"{cycles[f'{half}total']:,} = {parts} + stalls ({stalls})"


def _equal(counts: Sequence[int]) -> str:
    return "yes" if len(set(counts)) == 1 else "NO"


def verdict(audit: Audit) -> str:
    """Whether the bits are the golden's."""
    if audit.bit_exact:
        return f"equal to the golden: {audit.words_compared:,} words compared, 0 differ"
    return f"NOT EQUAL to the golden: {audit.mismatches:,} differ of {audit.words_compared:,}"


def time_taken(audit: Audit) -> str:
    """Seconds of a simulation, and its speed."""
    speed = audit.whole / audit.seconds if audit.seconds else 0.0
    return f"{audit.seconds:.1f} s for {audit.whole:,} cycles ({speed:,.0f} cycles/s)"


def files(
    choice: SimulationChoice, results: Sequence[PassResult], report: dict[str, Any], golden: Any
) -> dict[str, str | bytes]:
    """``simulate.json``, ``simulate.txt`` and a picture per layer, by name."""
    text = StringIO()
    show(choice, results, console(text))
    found: dict[str, str | bytes] = {
        "simulate.json": json.dumps(report, indent=2) + "\n",
        "simulate.txt": text.getvalue(),
    }
    return found | pictures(choice, results, golden)


def pictures(
    choice: SimulationChoice, results: Sequence[PassResult], golden: Any
) -> dict[str, bytes]:
    """A picture per layer of forward propagation, as PNG, by name."""
    from merp.tools.simulate.map_picture import draw  # Matplotlib waits

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
