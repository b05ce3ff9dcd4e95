"""The output of ``merp simulate --board``: JSON for machines, tables for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any

from rich.console import Console

from merp.cosim.phases.audit.audit import combine
from merp.models.base.file_format import PASSES, numbered
from merp.tools.common.table import console, table
from merp.tools.machines.cnn_merp.plan.answer import planned_answer
from merp.tools.machines.cnn_merp.simulated import HALVES
from merp.tools.machines.cnn_merp.tiles.choice import TilesChoice, goes_back
from merp.tools.machines.cnn_merp.tiles.result import TilesResult
from merp.tools.simulate.report import audit_answer, show_bus, time_taken, verdict

NAME = "board"
"""Name of the files, different from the name for undivided layers."""


def answer(choice: TilesChoice, results: Sequence[TilesResult]) -> dict[str, Any]:
    """Return the answer as JSON: ``runs``, one for each layer and phase, and their ``total``.

    ``bytes`` of a run has for each port the bytes of the simulated passes by the plan's formulas,
    the bytes on the pins, and ``measured``. ``measured`` means that all passes ran without failure.
    """
    plan = choice.plan
    audits = [result.audit for result in results if result.audit is not None]
    found = {
        "network": plan.network.name,
        "board": plan.board.name,
        "engine": choice.engine,
        "cu_array": choice.array,
        "images": plan.batch,
        "for": plan.goal,
        "state_bits": plan.state,
        "apart": choice.apart,
        "tiles": choice.tiles,
        "seed": choice.seed,
        "runs": [_run(result) for result in results],
        "total": audit_answer(combine(audits), HALVES.values()) if audits else None,
    }
    return numbered(found, PASSES)


def _run(result: TilesResult) -> dict[str, Any]:
    planned, audit = result.planned, result.audit
    moved = {} if audit is None else audit.moved
    return {
        "layer": planned.work.name,
        "phase": planned.work.phase,
        "hardware": planned.work.built,
        "passes": planned.passes,
        "passes_run": result.passes,
        "passed": audit is not None and not result.failures,
        "measured": result.measured,
        "bytes": {
            port: {
                "plan": count,
                "pins": moved.get(port, 0),
                "measured": result.measured,
            }
            for port, count in result.formula.items()
        },
        "failures": result.failures,
        "drawn": [list(each.unit) for each in result.ran if each.unit.inputs is not None],
        "elaboration_sha": result.ran[-1].elaboration_sha if result.ran else None,
        "audit": None if audit is None else audit_answer(audit, HALVES.values()),
        "plan": planned_answer(planned),
    }


def show(
    choice: TilesChoice,
    results: Sequence[TilesResult],
    screen: Console | None = None,
    *,
    details: bool,
) -> None:
    """Print the bytes from the plan and on the pins, and each failed check.

    Several results have a row each; with ``details`` they have a row for each port.
    """
    screen = screen or console()
    plan = choice.plan
    by_port = details or len(results) == 1
    port = ["port"] * by_port
    screen.print(
        table(
            f"{plan.network.name} on {plan.board.name}, {plan.batch} image(s), tiles "
            f"{choice.tiles}, engine {choice.engine}, CU array {choice.array}",
            ["layer", "phase", *port, "found", "passes", "of", "bytes, plan", "bytes, pins"],
            [row for result in results for row in _rows(result, by_port=by_port)],
            text_columns=3 + by_port,
            keys=2 + by_port,
            bundles=(1, 2, 2),
            caption="measured: all passes ran without failure, and the pins moved the closed form "
            "of the plan. sample: some passes ran, and the pins moved the formulas of "
            "these passes.",
        )
    )
    for line in plan.apart(choice.layers if goes_back(choice.phases) else ()):
        screen.print(f"Not in one pass: {line}")
    for result in results:
        _show_bits(result, screen)
    audits = [result.audit for result in results if result.audit is not None]
    if audits:
        show_bus(combine(audits), screen)


def _rows(result: TilesResult, *, by_port: bool) -> Iterator[list[str]]:
    """Yield a row for each port, or for all ports; one row if there is no hardware."""
    planned = result.planned
    names = [planned.work.name, planned.work.phase.upper()]
    counts = [f"{result.passes:,}", f"{planned.passes:,}"]
    if result.audit is None:
        yield [*names, *["-"] * by_port, "no hardware", *counts, "-", "-"]
        return
    moved = result.audit.moved
    ports = list(dict.fromkeys([*result.formula, *moved]))
    for some in [[port] for port in ports] if by_port else [ports]:
        wanted = [result.formula.get(port, 0) for port in some]
        found = [moved.get(port, 0) for port in some]
        said = "measured" if result.measured else "FAILED" if result.failures else "sample"
        said = "DIFFERS" if wanted != found else said
        sums = f"{sum(wanted):,}", f"{sum(found):,}"
        yield [*names, *some[:by_port], said, *counts, *sums]


def _show_bits(result: TilesResult, screen: Console) -> None:
    name = f"{result.planned.work.name} {result.planned.work.phase}"
    if result.audit is None:
        screen.print(f"{name}: there is no hardware for these passes yet; none ran")
        return
    screen.print(f"{name}: {verdict(result.audit)}; {time_taken(result.audit)}")
    for failure in result.failures:
        screen.print(f"FAILED    {name}: {failure}", style="bold red")


def files(
    choice: TilesChoice, results: Sequence[TilesResult], found: dict[str, Any]
) -> dict[str, str]:
    """Return the answer and the tables, by name."""
    text = StringIO()
    show(choice, results, console(text), details=True)
    return {f"{NAME}.json": json.dumps(found, indent=2) + "\n", f"{NAME}.txt": text.getvalue()}
