"""What ``merp simulate`` says: JSON for machines, tables for people, pictures of maps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import StringIO
from typing import Any

from rich.console import Console

from merp.cosim.audit.audit import COUNTS, Audit, combine
from merp.cosim.phases.cnn_merp import backward, fused_forward
from merp.models.cnn_merp.cycles import layer_cycles
from merp.models.cnn_merp.fused_pair import fused_design, fused_layers
from merp.models.cnn_merp.one_pass import backward_design
from merp.models.golden.golden_step import GoldenStep
from merp.models.network.network import Layer
from merp.models.network.phases import ONE_PASS, PAIR, apart, called
from merp.models.params.counters import STALLS
from merp.models.params.names import file_name
from merp.tools.common.table import console, fixed, table
from merp.tools.simulate.choice import Choice
from merp.tools.simulate.map_picture import draw
from merp.tools.simulate.result import Result


def answer(choice: Choice, results: Sequence[Result], *, everything: bool) -> dict[str, Any]:
    """The answer as JSON: of one layer, or ``runs`` and their ``total`` with all layers."""
    runs = [_layer(choice, result) for result in results]
    if not everything:
        return runs[0]
    total = combine([result.audit for result in results])
    return {
        "network": choice.network.name,
        "engine": choice.engine,
        "cu_array": choice.array,
        "images": choice.images,
        "runs": runs,
        "total": {**audit_answer(total), "operations": total.operations},
    }


def _layer(choice: Choice, result: Result) -> dict[str, Any]:
    layer = result.layer
    design = choice.network.design(layer)
    measured = audit_answer(result.audit)
    halves = _halves(choice, layer, result.phase)
    measured["cycles"] |= {"model": _model(choice, result), "lost": _lost(result.audit)}
    return {
        "network": choice.network.name,
        "layer": called(choice.network, layer, result.phase),
        "group": "all" if choice.group is None else choice.group,
        "groups": layer.groups,
        "phase": result.phase,
        "engine": choice.engine,
        "cu_array": choice.array,
        "cu_kind": design.cu_kind,
        "ku_kind": design.ku_kind,
        "design": layer.design,
        "n_cu": design.n_cu,
        **({"halves": halves} if halves else {}),
        "elaboration_sha": result.elaboration_sha,
        "images": choice.images,
        "rows": layer.shape.rows,
        "operations": result.audit.operations,
        **measured,
        "build_seconds": round(result.build_seconds, 3),
    }


HALVES = {ONE_PASS: backward.HALF, PAIR: fused_forward.HALF}
"""What the names of counters begin with that a half of a pass has of its own."""

_SLOTS = {ONE_PASS: "delta propagation's", PAIR: "the first layer's"}


def _halves(choice: Choice, layer: Layer, phase: str) -> dict[str, int]:
    """CUs of each half of a pass for both backward phases, or for two layers; else nothing."""
    if phase == ONE_PASS:
        both = backward_design(choice.network, layer)
        return {HALVES[phase]: both.propagation.n_cu, "update": both.update.n_cu}
    if phase == PAIR:
        pair = fused_design(choice.network, *fused_layers(choice.network))
        return {HALVES[phase]: pair.first.n_cu, "second": pair.groups * pair.second.n_cu}
    return {}


def _half_answer(audit: Audit) -> dict[str, Any]:
    """Cycles of a half's slots, where one pass counts them apart, as JSON."""
    found = {}
    for name in HALVES.values():
        half = {
            counter.removeprefix(f"{name}_"): count
            for counter, count in audit.cycles.items()
            if counter.startswith(f"{name}_")
        }
        if half:
            plain = {key: count for key, count in half.items() if not key.startswith("stall_")}
            stalls = {cause: half[f"stall_{cause}"] for cause in STALLS}
            found[name] = plain | {"stall": stalls}
    return found


def audit_answer(audit: Audit) -> dict[str, Any]:
    """Bits, words, cycles, failures of an audit, as JSON."""
    cycles = audit.cycles
    ideal = audit.ideal
    return {
        "bit_exact": audit.bit_exact,
        "mismatches": audit.mismatches,
        "words_compared": audit.words_compared,
        "ports": {port: dict(ways) for port, ways in audit.ports.items()},
        "cycles": {
            "total": cycles["total"],
            "kernel_load": cycles["kernel_load"],
            "issue": cycles["issue"],
            "ideal": int(ideal) if ideal == int(ideal) else ideal,
            "fill": cycles["fill"],
            "drain": cycles["drain"],
            "efficiency": audit.efficiency,
            "slot_efficiency": audit.slot_efficiency,
            "stall": {cause: cycles[f"stall_{cause}"] for cause in STALLS},
            **_half_answer(audit),
        },
        "mb_per_gflop": _mb_per_gflop(audit),
        "failures": list(audit.failures),
        "seconds": round(audit.seconds, 3),
    }


def _model(choice: Choice, result: Result) -> float | None:
    """Efficiency by the cycle model; it knows deltas at the resolution of the sums only."""
    if result.phase not in ("fp", PAIR) and choice.before:
        return None
    cycles = layer_cycles(choice.network, result.layer, result.phase, choice.images)
    return cycles.efficiency if cycles is not None else None


def _lost(audit: Audit) -> dict[str, float]:
    """Share of all cycles in which CUs do nothing useful, by cause, the largest first."""
    cycles = audit.cycles
    causes = {
        "idle CUs": cycles["issue"] - audit.ideal,
        "fill": cycles["fill"],
        "drain": cycles["drain"],
        **{f"stall {cause}": cycles[f"stall_{cause}"] for cause in STALLS},
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


def show(choice: Choice, results: Sequence[Result], screen: Console | None = None) -> None:
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


def _show_layer(choice: Choice, result: Result, screen: Console) -> None:
    layer, audit = result.layer, result.audit
    design = choice.network.design(layer)
    updates = result.phase in ("ku", ONE_PASS)
    kind = f"{design.cu_kind}, by {design.ku_kind}" if updates else design.cu_kind
    halves = list(_halves(choice, layer, result.phase).values())
    cus = f"{design.n_cu} CUs of {design.k}x{design.k}"
    if result.phase == ONE_PASS:
        cus = f"{' + '.join(map(str, halves))} of {cus}"
    elif result.phase == PAIR:
        designs = [choice.network.design(each) for each in fused_layers(choice.network)]
        shares = zip(halves, designs, strict=True)
        cus = " + ".join(f"{n} of {each.n_cu} CUs of {each.k}x{each.k}" for n, each in shares)
    group = "all groups" if choice.group is None else f"group {choice.group}"
    part = "" if choice.rows is None else f", first {choice.rows} rows"
    name = called(choice.network, layer, result.phase)
    screen.print(
        f"{choice.network.name} {name} {result.phase}{part}, {group} of {layer.groups}: "
        f"{choice.images} image(s), {cus} ({kind}), "
        f"engine {choice.engine}, CU array {choice.array}",
        style="bold",
    )
    ways = [*COUNTS, *(["waveform"] if choice.wave is not None else [])]
    heads = [way.replace("_", " ") for way in ways]
    rows = [
        [port, *(f"{counts[way]:,}" for way in ways), _equal(list(counts.values()))]
        for port, counts in audit.ports.items()
    ]
    screen.print(table("", ["words", *heads, "equal"], rows))
    measured = _mb_per_gflop(audit)
    screen.print(f"bits      {verdict(audit)}")
    screen.print(f"cycles    {_account(audit, '')}; kernel load {audit.cycles['kernel_load']:,}")
    if result.phase in HALVES:
        account = _account(audit, f"{HALVES[result.phase]}_")
        screen.print(f"          of {_SLOTS[result.phase]} slots: {account}")
    screen.print(
        f"CUs       {100 * audit.efficiency:.2f} % of all cycles (ideal {fixed(audit.ideal, 0)}), "
        f"{100 * audit.slot_efficiency:.2f} % of issued slots"
    )
    model = _model(choice, result)
    said = "" if model is None else f"; the cycle model says {100 * model:.2f} %"
    lost = [f"{cause} {100 * share:.2f} %" for cause, share in _lost(audit).items()]
    screen.print(f"lost      {', '.join(lost) or 'nothing'}{said}")
    screen.print(
        f"traffic   {measured['paper']:.3f} MB/GFlop measured, footing paper (maps); "
        f"{measured['full']:.3f} on all ports"
    )
    built = f", after {result.build_seconds:.1f} s of building"
    screen.print(f"time      {time_taken(audit)}{built}")
    for failure in audit.failures:
        screen.print(f"FAILED    {failure}", style="bold red")
    screen.print()


def _account(audit: Audit, half: str) -> str:
    """Cycles by cause; ``half``: what the names of its counters begin with."""
    cycles = audit.cycles
    stalls = ", ".join(f"{cause} {cycles[f'{half}stall_{cause}']:,}" for cause in STALLS)
    return (
        f"{cycles[f'{half}total']:,} = issue {cycles[f'{half}issue']:,} + fill "
        f"{cycles[f'{half}fill']:,} + drain {cycles[f'{half}drain']:,} + stalls ({stalls})"
    )


def _equal(counts: Sequence[int]) -> str:
    return "yes" if len(set(counts)) == 1 else "NO"


def verdict(audit: Audit) -> str:
    """Whether the bits are the golden's."""
    if audit.bit_exact:
        return f"equal to the golden: {audit.words_compared:,} words compared, 0 differ"
    return f"NOT EQUAL to the golden: {audit.mismatches:,} differ of {audit.words_compared:,}"


def time_taken(audit: Audit) -> str:
    """Seconds of a simulation, and its speed."""
    cycles = audit.cycles["total"] + audit.cycles["kernel_load"]
    speed = cycles / audit.seconds if audit.seconds else 0.0
    return f"{audit.seconds:.1f} s for {cycles:,} cycles ({speed:,.0f} cycles/s)"


def files(
    choice: Choice, results: Sequence[Result], report: dict[str, Any], golden: GoldenStep
) -> dict[str, str | bytes]:
    """``simulate.json``, ``simulate.txt`` and a picture per layer, by name."""
    text = StringIO()
    show(choice, results, console(text))
    found: dict[str, str | bytes] = {
        "simulate.json": json.dumps(report, indent=2) + "\n",
        "simulate.txt": text.getvalue(),
    }
    return found | pictures(choice, results, golden)


def pictures(choice: Choice, results: Sequence[Result], golden: GoldenStep) -> dict[str, bytes]:
    """A picture per layer of forward propagation, as PNG, by name."""
    found = {}
    for result in results:
        if result.outputs is None:
            continue
        layer = result.layer
        group, n = choice.group, layer.shape.n
        x = golden.x(layer)
        maps = x if group is None else x[..., group * n : (group + 1) * n]
        name = called(choice.network, layer, result.phase)
        names = [choice.network.name, name] + ([] if group is None else [f"g{group}"])
        title = file_name(*names, suffix="")
        found[f"{title}.png"] = draw(title, maps[0], result.outputs[0], choice.network.fmt)
    return found
