"""Works that share a bitstream, one of each kind: works of a kind use the same tile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from merp.models.base.ordered_sum import ordered_sum
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.plan.work import PhaseWork

Each = TypeVar("Each")


class Distinct(NamedTuple):
    """Works of a phase.

    Attributes:
        works: one of each kind.
        places: index among these, for each work in its order.
        names: of the layers of all works.
    """

    works: Sequence[PhaseWork]
    places: Sequence[int]
    names: Sequence[str]

    def on(self, engine: EngineDesign) -> Distinct:
        """Return the same works on another engine; each is converted by ``PhaseWork.on``."""
        return self._replace(works=[work.on(engine) for work in self.works])

    def each(self, of_kinds: Sequence[Each]) -> list[Each]:
        """Return the item of its kind for each work, in order."""
        return [of_kinds[place] for place in self.places]

    def total(self, of_kinds: Sequence[float]) -> float:
        """Return the sum of the numbers of all works, given one for each kind.

        Works are added in order. Therefore rounding does not depend on the number of works of a
        kind.
        """
        return ordered_sum(self.each(of_kinds))


def distinct(works: Sequence[PhaseWork]) -> Distinct:
    """Return the works, one of each kind."""
    kinds = {work.kind: work for work in works}
    at = {kind: place for place, kind in enumerate(kinds)}
    return Distinct(
        works=list(kinds.values()),
        places=[at[work.kind] for work in works],
        names=[work.layer.name for work in works],
    )
