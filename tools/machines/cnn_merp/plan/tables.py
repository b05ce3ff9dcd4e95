"""The tables of ``merp plan``: passes by layer and phase, bitstreams, and the step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from merp.models.fpga.resources import Resources, capacity
from merp.models.machines.cnn_merp.designs import designs_of
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.plan.engines import PlannedEngine
from merp.models.machines.cnn_merp.plan.fusable import fusable, saves_most
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan, PlannedPhase
from merp.models.network.network_keys import COMBINED
from merp.models.network.phases import NAMED
from merp.tools.common.stored import stored_notes
from merp.tools.common.table import console, fixed, say, table
from merp.tools.machines.cnn_merp.plan.answer import plan_json
from merp.tools.plan.summary import by_layer


def print_plan(plan: NetworkPlan, *, details: bool) -> None:
    """Print the layers and the step; with ``details`` each phase and the bitstreams, too."""
    answer = plan_json(plan)
    if details:
        _print_passes(plan)
        _print_bitstreams(plan)
    else:
        notes = [*_missing_notes(plan), *_one_pass_notes(plan), *_fused_notes(plan, brief=True)]
        notes += stored_notes(plan.network)
        caption = " ".join(["MB = 10^6 bytes, all ports and phases. Modelled.", *notes])
        title = f"{plan.network.name} on {plan.board.name}, batch {plan.batch}"
        console().print(by_layer(title, answer["layers"], caption))
    _print_step(plan, answer)
    if not details:
        say("--details: each phase of each layer with its tiles, and the bitstreams.")


def _print_passes(plan: NetworkPlan) -> None:
    columns = [
        "layer", "phase", "binds", "design", "maps in", "part", "maps out", "part", "passes", "MB",
        "MB/GFlop", "Mcycles", "seconds",
    ]  # fmt: skip
    caption = (
        "Maps and parts of one group; passes of all groups, output parts in the outer loop, "
        "input parts in the inner loop. MB = 10^6 bytes, all ports. Modelled: cycles are slots or "
        "words of the slowest port, and kernels."
    )
    smaller = {p.work.layer.name: p.work for p in plan.layers if p.work.idle_taps}
    for name, work in smaller.items():
        k, engine = work.shape.k, work.engine
        caption += (
            f" {name}: {k} x {k} kernels on {engine.k} x {engine.k} units, "
            f"{engine.taps - work.idle_taps} of {engine.taps} multipliers."
        )
    caption = " ".join(
        [
            caption,
            *_missing_notes(plan),
            *_one_pass_notes(plan),
            *_fused_notes(plan),
            *stored_notes(plan.network),
        ]
    )
    state = plan.state
    console().print(
        table(
            f"{plan.network.name} on {plan.board.name}, batch {plan.batch}, state bits {state}, "
            f"tiles for {plan.goal}",
            columns,
            [_row(planned) for planned in plan.layers],
            text_columns=4,
            keys=2,
            bundles=(2, 2, 2, 1, 2, 2),
            caption=caption,
        )
    )


def _missing_notes(plan: NetworkPlan) -> Iterator[str]:
    """The layers that no hardware runs, and the reason."""
    missing = dict.fromkeys(each.work.name for each in plan.layers if not each.work.built)
    if missing:
        yield (
            f"*: {', '.join(missing)} do not run in hardware yet. They would need deltas of "
            "flattened maps expanded before the sums."
        )


def _one_pass_notes(plan: NetworkPlan) -> Iterator[str]:
    """Name the convolutions whose backward phases are separate although they propagate a delta."""
    if plan.network.backward != COMBINED:
        return
    yield "BP: DP and KU in one pass."
    works = [each.work for each in plan.layers if each.work.layer.kind == "conv"]
    alone = [work for work in works if NAMED[work.phase].propagates]
    apart = ", ".join(work.layer.name for work in alone if not NAMED[work.phase].combined)
    if apart:
        yield f"Separate, because no hardware combines them or they do not fit undivided: {apart}."


def _fused_notes(plan: NetworkPlan, *, brief: bool = False) -> Iterator[str]:
    """Name the layers that a plan fuses, or why it does not, and pairs that fit the board fused.

    Args:
        plan: the plan.
        brief: name only the pair that saves the most bytes.
    """
    for engine in plan.engines:
        if NAMED[engine.phase].fuses:
            yield f"FF: FP of both in one pass, {_cus(engine)}."
    if plan.unfused:
        yield f"Run separately: {plan.unfused}."
    pairs = list(fusable(plan))
    for each in [] if brief else pairs:
        yield (
            f"{' and '.join(each.names)} fused in forward propagation would fit: "
            f"{_cus(each.engine)}, {each.engine.resources.bram:g} RAMB36 by the estimate, "
            f"{fixed(each.saved / 1e6, 1)} MB less in a step, "
            f"{fixed(each.saved_in_inference / 1e6, 1)} MB less in inference."
        )
    if (best := saves_most(pairs)) is not None:
        saved = f" would save {fixed(best.saved / 1e6, 1)} MB" if brief else ""
        yield f"--layer-fusion best: {' and '.join(best.names)}{saved}."


def _cus(engine: PlannedEngine) -> str:
    return f"{' + '.join(map(str, engine.cus))} CUs"


def _row(planned: PlannedPhase) -> list[str]:
    work = planned.work
    return [
        f"{work.name}{'' if work.built else ' *'}",
        work.phase.upper(),
        planned.binds,
        planned.engine.name,
        f"{work.inputs:,}",
        f"{planned.tile[0]:,}",
        f"{work.outputs:,}",
        f"{planned.tile[1]:,}",
        f"{planned.passes:,}",
        fixed(planned.bytes / 1e6, 1),
        fixed(planned.bytes / planned.operations * 1e3, 2),
        fixed(planned.cycles / 1e6, 2),
        fixed(planned.seconds, 3),
    ]


def _print_bitstreams(plan: NetworkPlan) -> None:
    rows = [
        [engine.name, engine.phase.upper(), *_figures(engine.resources), _largest(engine, plan)]
        for engine in plan.engines
    ]
    rows.append([plan.board.part.name, "", *_figures(capacity(plan.board.part)), ""])
    chosen = ", ".join(_chosen(name, designs_of(plan.network)[name]) for name in plan.chosen)
    console().print(
        table(
            "Bitstreams",
            ["design", "phase", "LUT", "FF", "RAMB36", "DSP", "largest share"],
            rows,
            text_columns=2,
            keys=2,
            totals=1,
            caption="RAMB36 and DSP by count of the design's memories and multipliers, LUT and FF "
            "estimated." + (f" Chosen for this part: {chosen}." if chosen else ""),
        )
    )


def _chosen(name: str, design: EngineDesign) -> str:
    """Return a selected design with its units and its ports of several elements per beat."""
    ports = {key: getattr(design, key) for key in ("kernel_port", "map_port")}
    wide = "".join(f", {key} {port}" for key, port in ports.items() if port > 1)
    return f"{name} ({design.n_cu} units of {design.k} x {design.k}{wide})"


def _figures(found: Resources) -> list[str]:
    return [f"{found.lut:,}", f"{found.ff:,}", f"{found.bram:,.1f}", f"{found.dsp:,}"]


def _largest(engine: PlannedEngine, plan: NetworkPlan) -> str:
    """Return the largest share of a resource that an engine uses."""
    has = capacity(plan.board.part).figures()
    return f"{max(count / has[kind] for kind, count in engine.resources.figures().items()):.0%}"


def _print_step(plan: NetworkPlan, answer: Mapping[str, Any]) -> None:
    sums = {"conv layers": answer["total"], "all layers": answer["total_all"]}
    for name, each in sums.items():
        step = each["step"]
        if step["operations"]:
            say(
                f"Training step, {name}: {fixed(step['bytes'] / 1e6, 1)} MB, "
                f"{fixed(step['operations'] / 1e9, 1)} Gop, {fixed(step['mb_per_gflop'], 3)} "
                f"MB/GFlop, {fixed(step['seconds'], 3)} s"
            )
    loads = f"{plan.loads} bitstream{'' if plan.loads == 1 else 's'}"
    say(
        f"With {loads} loaded in {fixed(plan.loading, 3)} s: {fixed(plan.seconds, 3)} s a step, "
        f"{fixed(plan.images_per_second, 1)} images a second"
    )
    if plan.loads:
        say(_least_batches(plan))


def _least_batches(plan: NetworkPlan) -> str:
    """Return a line about the batches from which loads take at most a share of the time."""
    found = plan.least_batches
    shares = _listed(f"{100 * share:g}" for share in found)
    batches = _listed("none" if batch is None else f"{batch:,}" for batch in found.values())
    return f"Loads take at most {shares} % of a step from batch {batches}"


def _listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}"
