"""Architectures side by side: each on its paper's board, or all on one board with one word."""

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
"""Widths of words that all may be asked for, in bits."""


@dataclass(frozen=True, kw_only=True)
class MachineAnswer:
    """What an architecture answers.

    Attributes:
        record: None where it has no plan. why: then the reason; else why the record does not
            compare with the others, None where it does.
    """

    architecture: Architecture
    record: Record | None
    why: str | None

    @property
    def comparable(self) -> Record | None:
        """The record if its sums may stand beside those of others."""
        return self.record if self.why is None else None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One step of one network, answered by several architectures.

    Attributes:
        scope: names of the layers. board: ``own``, or the name of a common one. word_bits: of all;
            None where each has its own. fit: of CNN-MERP's designs.
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
        """Those that compare."""
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
    """Ask several architectures for the same step.

    Args:
        boards: opens a board by its name. scope: names of layers. batch: images.
        board: ``own``: each on its paper's board, with its paper's word; else the name of a board
            for all, with words of ``word_bits``.

    Raises:
        BadInput: anything between the two, a board of a family that our costs are not of, or a
            board that there is not.
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
    """Refuse what would compare boards and words at once."""
    if common is None and word_bits is not None:
        raise BadInput(
            f"{mention('word', word_bits)}: allowed is own, as each architecture is on its paper's "
            f"board with its paper's word; or {name_of('board')} too, one for all"
        )
    if common is not None and word_bits is None:
        allowed = ", ".join(map(str, WORDS))
        raise BadInput(
            f"{mention('board', common.name)}: a common board needs a common word: "
            f"{name_of('word')} is missing: allowed are {allowed}"
        )
    if common is not None and not common.part.planned:
        raise BadInput(
            f"{mention('board', common.name)}: {common.part.name}: unit costs are of FPGAs of AMD, "
            "and none is translated: allowed is own, or a board with such a part"
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
