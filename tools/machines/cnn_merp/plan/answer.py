"""The machine-readable answer of ``merp plan``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from merp.models.base.ordered_sum import ordered_sum
from merp.models.fpga.resources import capacity
from merp.models.machines.cnn_merp.designs import designs_of
from merp.models.machines.cnn_merp.params.design_keys import CHOICES
from merp.models.machines.cnn_merp.plan.engines import PlannedEngine
from merp.models.machines.cnn_merp.plan.fusable import Fusable, fusable, saves_most
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan, PlannedPhase
from merp.models.machines.cnn_merp.plan.reached import Reached, reached
from merp.models.network.network_keys import COMBINED, json_backward
from merp.models.network.phases import counted_as, phases_counted
from merp.models.network.planning import SHIPPED
from merp.tools.common.designed import designed_file
from merp.tools.common.stored import storage_answer


def plan_json(plan: NetworkPlan) -> dict[str, Any]:
    """Return the answer. Totals are given for convolution layers and for all layers."""
    board, part = plan.board, plan.board.part
    pairs = list(fusable(plan))
    best = saves_most(pairs)
    one_pass = plan.network.backward == COMBINED
    return {
        "network": plan.network.name,
        "batch": plan.batch,
        **storage_answer(plan.network),
        **({"backward": json_backward(COMBINED)} if one_pass else {}),
        **({"fuse": list(plan.network.layer_fusion)} if plan.network.layer_fusion else {}),
        **({"unfused": plan.unfused} if plan.unfused else {}),
        "for": plan.goal,
        "state_bits": plan.state,
        "board": {
            "name": board.name,
            "part": part.name,
            "clock_mhz": board.clock_mhz,
            "gbytes_s": board.gbytes_s,
            "efficiency": board.efficiency,
            "load_seconds": board.load_seconds,
            "capacity": capacity(part).figures(),
        },
        "designs": {
            name: {"chosen": name in plan.chosen, "cu_kind": design.cu_kind}
            | {"ku_kind": design.ku_kind}
            | {key: getattr(design, key) for key in CHOICES}
            for name, design in designs_of(plan.network).items()
        },
        "bitstreams": [_engine(engine) for engine in plan.engines],
        "layers": [planned_answer(planned) for planned in plan.layers],
        "fusable": [_fusable(each, best=each is best) for each in pairs],
        "fully_connected": [_reached(each) for each in reached(plan)],
        "total": _totals(plan, (p for p in plan.layers if p.work.layer.kind == "conv")),
        "total_all": _totals(plan, plan.layers),
        "step": {
            "computing_seconds": plan.computing,
            "bitstream_loads": plan.loads,
            "loading_seconds": plan.loading,
            "loading_share": plan.loading / plan.seconds,
            "least_batches": [
                {"share": share, "batch": batch} for share, batch in plan.least_batches.items()
            ],
            "seconds": plan.seconds,
            "images_per_second": plan.images_per_second,
        },
    }


def _fusable(each: Fusable, *, best: bool) -> dict[str, Any]:
    """Return two layers that fit the board fused: bytes of a batch in inference, and of a step.

    Args:
        best: whether no other pair saves more bytes of a step.
    """
    return {
        "layers": list(each.names),
        "best": best,
        "n_cu": list(each.engine.cus),
        **each.engine.resources.figures(),
        "slots_per_image": each.slots,
        "saved_bytes": each.saved_in_inference,
        "saved_in_step_bytes": each.saved,
    }


def _engine(engine: PlannedEngine) -> dict[str, Any]:
    return {
        "design": engine.name,
        "phase": engine.phase,
        "n_cu": list(engine.cus),
        **engine.resources.figures(),
        "memories": [
            {"holds": memory.name, "count": memory.count, "words": memory.words}
            | {"bits": memory.bits, "bram": memory.halves / 2}
            for memory in engine.memories
        ],
    }


def planned_answer(planned: PlannedPhase) -> dict[str, Any]:
    """Return a phase of a layer."""
    work = planned.work
    return {
        "name": work.name,
        "kind": work.layer.kind,
        "phase": work.phase,
        "design": planned.engine.name,
        "folded": work.folded,
        "idle_taps": work.idle_taps,
        "hardware": work.built,
        "groups": work.layer.groups,
        "input_maps": work.inputs,
        "output_maps": work.outputs,
        "input_part": planned.tile[0],
        "output_part": planned.tile[1],
        "input_parts": planned.in_parts,
        "output_parts": planned.out_parts,
        "passes": planned.passes,
        "ports": dict(planned.ports),
        "words": {port: moved // work.word_bytes(port) for port, moved in planned.ports.items()},
        "bytes": planned.bytes,
        "operations": planned.operations,
        "mb_per_gflop": planned.bytes / planned.operations * 1e3,
        "cycles": planned.cycles,
        "seconds": planned.seconds,
        "binds": planned.binds,
    }


def _reached(each: Reached) -> dict[str, Any]:
    """Return the seconds and the performance of all passes of a folded layer and phase."""
    work = each.planned.work
    return {
        "name": work.layer.name,
        "phase": work.phase,
        "ports_seconds": each.ports,
        "plan_seconds": each.planned.seconds,
        "walked_seconds": each.walked,
        "share_of_plan": each.share_of_plan,
        "share_of_ports": each.share_of_ports,
    }


def network_file(plan: NetworkPlan, fit: str, file: str, tables: Mapping[str, Any]) -> str:
    """Return the text of the network file of a plan; ``tables`` are those of the source ``file``.

    ``fit`` names the origin of the designs of the plan.

    Raises:
        BadInput: the design of an undivided layer does not support the layer.
    """
    said = f"merp plan {file} --board {plan.board.name} --batch {plan.batch} --for {plan.goal}"
    said += "" if fit == SHIPPED else f" --fit {fit}"
    moved = sum(each.bytes for each in plan.layers)
    head = [f"{said}, modelled: {moved:,} bytes a step, {plan.seconds:.3g} s"]
    return designed_file(file, tables, plan.network, head)


def _totals(plan: NetworkPlan, some: Iterable[PlannedPhase]) -> dict[str, Any]:
    planned = list(some)
    groups = {
        phase: [p for p in planned if counted_as(p.work.phase) == phase]
        for phase in phases_counted(plan.network)
    }
    groups["step"] = planned
    found: dict[str, Any] = {}
    for name, each in groups.items():
        moved, operations = sum(p.bytes for p in each), sum(p.operations for p in each)
        found[name] = {
            "bytes": moved,
            "operations": operations,
            "mb_per_gflop": moved / operations * 1e3 if operations else None,
            "seconds": ordered_sum(p.seconds for p in each),
        }
    return found
