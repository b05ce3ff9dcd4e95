"""A comparison of architectures: each on its paper's board, or all on one board.

On a common board all architectures have the same word width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from merp.models.base.errors import BadInput
from merp.models.base.given import mention, name_of
from merp.models.comparison.architecture import Architecture
from merp.models.comparison.fairness import unfair
from merp.models.comparison.options import Options
from merp.models.comparison.record import Record
from merp.models.fpga.board import Board
from merp.models.network.network import Network

OWN = "own"
WORDS = (16, 32)
"""Word widths that a comparison may request for all architectures, in bits."""


@dataclass(frozen=True, kw_only=True)
class MachineAnswer:
    """The answer of an architecture.

    Attributes:
        record: None if it has no plan.
        why: the reason why there is no plan, or why the record is not comparable; None if it is.
    """

    architecture: Architecture
    record: Record | None
    why: str | None

    @property
    def comparable(self) -> Record | None:
        """The record if its sums may be compared with those of others."""
        return self.record if self.why is None else None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One step of one network, planned by several architectures.

    Attributes:
        scope: names of the layers.
        board: ``own``, or the name of a common board.
        word_bits: of all architectures; None if each has its own.
        fit: of CNN-MERP's designs.
    """

    network: Network
    batch: int
    scope: tuple[str, ...]
    board: str
    word_bits: int | None
    fit: str
    answers: tuple[MachineAnswer, ...]

    @property
    def records(self) -> list[Record]:
        """Return the comparable records."""
        return [each.comparable for each in self.answers if each.comparable is not None]


def compare(
    network: Network,
    architectures: Sequence[Architecture],
    boards: Callable[[str], Board],
    *,
    scope: Sequence[str],
    batch: int,
    board: str = OWN,
    word_bits: int | None = None,
    fit: str = "best",
) -> Comparison:
    """Plan the same step with several architectures.

    Args:
        boards: opens a board by its name.
        scope: names of layers.
        batch: images.
        board: ``own``: each architecture is on its paper's board, with its paper's word width.
            Otherwise the name of a board for all, with words of ``word_bits``.

    Raises:
        BadInput: only one of board and word is common, the board's family has no unit costs, or
            there is no such board.
    """
    common = None if board == OWN else boards(board)
    _check(common, word_bits)
    answers = []
    for each in architectures:
        options = Options(
            batch=batch,
            scope=tuple(scope),
            word_bits=word_bits,
            fit=fit,
            costs="paper" if common is None else "ours",
            extra={choice.name: choice.default for choice in each.choices},
        )
        found = common or boards(each.board)
        found = found if each.all_devices else replace(found, devices=1)
        answers.append(_answer(each, network, found, options))
    return Comparison(
        network=network,
        batch=batch,
        scope=tuple(scope),
        board=OWN if common is None else common.name,
        word_bits=word_bits,
        fit=fit,
        answers=tuple(answers),
    )


def _check(common: Board | None, word_bits: int | None) -> None:
    """Refuse a comparison that would vary boards and word widths together."""
    if common is None and word_bits is not None:
        raise BadInput(
            f"{mention('word', word_bits)}: allowed is own, which means its paper's board and "
            f"word for each architecture; or also {name_of('board')}, one for all"
        )
    if common is not None and word_bits is None:
        allowed = ", ".join(map(str, WORDS))
        raise BadInput(
            f"{mention('board', common.name)}: a common board needs a common word: "
            f"{name_of('word')} is missing: allowed are {allowed}"
        )
    if common is not None and not common.part.planned:
        raise BadInput(
            f"{mention('board', common.name)}: {common.part.name}: unit costs are of FPGAs of "
            "AMD, and are not converted: allowed is own, or a board with such a part"
        )


def _answer(
    architecture: Architecture, network: Network, board: Board, options: Options
) -> MachineAnswer:
    try:
        record = architecture.answer(network, board, options)
    except BadInput as error:
        return MachineAnswer(architecture=architecture, record=None, why=str(error))
    why = unfair(record, network, options.scope, options.batch)
    return MachineAnswer(architecture=architecture, record=record, why=why)
