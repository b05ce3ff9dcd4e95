"""One point of a sweep over an architecture: the record of its plan, modelled or simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pkgutil import resolve_name
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.comparison.options import Options
from merp.models.comparison.record import Record
from merp.models.comparison.registry import named
from merp.models.fpga.board import Board
from merp.models.fpga.board_file import board_of
from merp.models.network.network import Network
from merp.models.network.network_file import network_of
from merp.models.rows.simulator import Deadlock
from merp.tools.comparison.place import linked
from merp.tools.comparison.sweep.axes import BATCH, DEVICES, LATENCY, LINK, Point
from merp.tools.comparison.sweep.quantities import QUANTITIES


@dataclass(frozen=True, kw_only=True)
class ArchitecturePoint:
    """A point, with all data to compute it on another machine, as plain JSON.

    Attributes:
        network, board: name of the file of each for messages, and its tables.
        architecture: name of the architecture.
        point: values by axis.
        batch: images of a step.
        scope: names of layers.
        word_bits, fit, costs: as for ``Options``.
        extra: options of the architecture.
        simulate: whether to simulate row by row.
    """

    network: Sequence[Any]
    board: Sequence[Any]
    architecture: str
    point: Point
    batch: int
    scope: Sequence[str]
    word_bits: int | None
    fit: str
    costs: str
    extra: Mapping[str, Any]
    simulate: bool


def evaluate_architecture(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the costs of a point, from the fields of an ``ArchitecturePoint``.

    The keys are ``point``, ``fits``, ``figures`` and ``refused``. ``figures`` has a value and its
    level for each quantity. ``refused`` is the reason if there is no plan.
    """
    asked = ArchitecturePoint(**given)
    found: dict[str, Any] = {"point": dict(asked.point), "fits": None, "figures": {}}
    try:
        record = _record(asked)
    except BadInput as error:
        return found | {"refused": str(error)}
    except Deadlock as stuck:
        return found | {"refused": f"deadlock: {stuck}"}
    figures = {name: quantity.of(record) for name, quantity in QUANTITIES.items()}
    return found | {
        "fits": record.fits,
        "figures": {
            name: {"value": figure.value, "level": figure.level}
            for name, figure in figures.items()
            if figure is not None
        },
        "refused": None,
    }


def _record(asked: ArchitecturePoint) -> Record:
    network, board, options = _placed(asked)
    architecture = named(asked.architecture)
    plan = architecture.plan(network, board, options)
    if not asked.simulate:
        return architecture.record(plan)
    found: Record = resolve_name(architecture.simulate)(plan)
    return found


def _placed(asked: ArchitecturePoint) -> tuple[Network, Board, Options]:
    """Return the arguments of the architecture, with the values of the point."""
    point = asked.point
    own = {name: point.get(name, value) for name, value in asked.extra.items()}
    board = board_of(*asked.board)
    board = replace(board, devices=int(point.get(DEVICES.key, board.devices)))
    rate, latency = (point.get(axis.key) for axis in (LINK, LATENCY))
    board = linked(
        board, None if rate is None else float(rate), None if latency is None else int(latency)
    )
    options = Options(
        batch=int(point.get(BATCH.key, asked.batch)),
        scope=tuple(asked.scope),
        word_bits=asked.word_bits,
        fit=asked.fit,
        costs=asked.costs,
        extra=own,
    )
    return network_of(*asked.network), board, options
