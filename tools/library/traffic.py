"""Memory traffic of a network as rows."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike, fspath
from typing import Any

from merp.models.base.errors import BadInput, shown
from merp.models.base.state_field import STATES
from merp.models.network.network import Network
from merp.models.network.network_keys import FUSED
from merp.models.network.phases import COUNTED
from merp.models.network.registry import bytes_of
from merp.models.traffic.closed_form import Phase, total
from merp.models.traffic.footing import FOOTINGS, Footing
from merp.tools.common.boards import PAPER, open_board
from merp.tools.library.checks import one_of, whole_or_none
from merp.tools.library.rows import Row, Rows
from merp.tools.traffic.answer import traffic_json


def footing_of(
    network: Network,
    footing: object,
    state_bits: object,
    memory_bytes: object,
    board: str | PathLike[str] | None,
) -> Footing:
    """The footing of such arguments; of what is None as ``network`` goes back.

    Raises:
        BadInput: one is not what is allowed.
    """
    one_pass = network.backward == FUSED
    usual = ("full", "pooled") if one_pass else ("paper", "32")
    name = one_of("footing", usual[0] if footing is None else footing, FOOTINGS)
    state = one_of("state_bits", usual[1] if state_bits is None else state_bits, STATES)
    if one_pass and (name, state) not in (("full", "pooled"), ("board", "pooled")):
        raise BadInput(
            f'{network.name}: backward = "{FUSED}": one pass takes deltas at pooled resolution: '
            f"allowed are footings full and board, state pooled; not footing {name}, state {state}"
        )
    memory = whole_or_none("memory_bytes", memory_bytes, 1, 1 << 40)
    if name == "paper" and state != "32":
        raise BadInput(f"state_bits = {state!r}: allowed with footing full or board")
    for key, value in (("memory_bytes", memory), ("board", board)):
        if value is not None and name != "board":
            raise BadInput(f"{key} = {shown(value)}: allowed with footing board")
    if memory is not None and board is not None:
        raise BadInput(f"memory_bytes = {memory}: allowed without board")
    if memory is not None:
        return Footing(name=name, state=state, memory_bytes=memory)
    if name != "board":
        return Footing(name=name, state=state)
    found = open_board(PAPER if board is None else fspath(board))
    memory = found.part.memory_bytes
    return Footing(name=name, state=state, memory_bytes=memory, board=found)


class Traffic(Rows):
    """A row per layer and phase, from the closed form (CNN-MERP section IV).

    Keys of a row: ``layer``, ``kind``, ``phase``, ``operations``, ``bytes``, ``mb_per_gflop``
    (10^6 bytes per 10^9 operations).

    Attributes:
        network: whose traffic.
        batch: images of a step.
        footing: what was counted.
        layers: the same by layer, with the bytes of each stream.
    """

    def __init__(self, network: Network, batch: int, footing: Footing) -> None:
        self.network, self.batch, self.footing = network, batch, footing
        self.layers = tuple(bytes_of(network).layers(network, batch, footing))
        title = f"Memory traffic of {network.name}, batch {batch}, footing {footing.name}"
        super().__init__(title, self._made())

    def _made(self) -> Iterator[Row]:
        for each in self.layers:
            for name in COUNTED:
                phase: Phase | None = getattr(each, name)
                if phase is not None:
                    yield {
                        "layer": each.layer.name,
                        "kind": each.layer.kind,
                        "phase": name,
                        "operations": phase.operations,
                        "bytes": phase.bytes,
                        "mb_per_gflop": phase.mb_per_gflop,
                    }

    def total(self, phase: str = "step") -> Phase:
        """The sum over all layers of ``fp``, ``dp``, ``ku``, ``bp``, or of a whole ``step``."""
        return total(self.layers, phase)

    def json(self) -> dict[str, Any]:
        """The answer of ``merp traffic --json``."""
        return traffic_json(self.network, self.layers, self.batch, self.footing)
