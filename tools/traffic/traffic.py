"""Memory traffic of a network as rows."""

from __future__ import annotations

from collections.abc import Iterator
from os import fspath
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.base.given import given, mention
from merp.models.machines.cnn_merp.one_pass import check_backward
from merp.models.network.network import Network
from merp.models.network.network_keys import FUSED
from merp.models.network.phases import COUNTED
from merp.models.traffic.bytes import bytes_of
from merp.models.traffic.closed_form import Phase, total
from merp.models.traffic.footing import Footing
from merp.tools.common.boards import PAPER, open_board
from merp.tools.common.checks import with_backward
from merp.tools.common.rows import Row, Rows
from merp.tools.traffic.answer import traffic_json
from merp.tools.traffic.request import Traffic as Asked


def footing_of(network: Network, asked: Asked) -> Footing:
    """Return the footing of a request; fields that are None follow the network.

    Raises:
        BadInput: fields do not go together, or not with the way back.
    """
    one_pass = network.backward == FUSED
    usual = ("full", "pooled") if one_pass else ("paper", "32")
    name, state, memory = (
        asked.footing or usual[0],
        asked.state_bits or usual[1],
        asked.memory_bytes,
    )
    if one_pass and (name, state) not in (("full", "pooled"), ("board", "pooled")):
        raise BadInput(
            f'{network.name}: backward = "{FUSED}": one pass takes deltas at pooled resolution: '
            f"allowed are footings full and board, state pooled; not footing {name}, state {state}"
        )
    if name == "paper" and state != "32":
        raise BadInput(
            f"{given('state_bits', state)}: allowed with {mention('footing', 'full')} or board"
        )
    for key, value in (("memory_bytes", memory), ("board", asked.board)):
        if value is not None and name != "board":
            raise BadInput(f"{given(key, value)}: allowed with {mention('footing', 'board')}")
    if memory is not None:
        return Footing(name=name, state=state, memory_bytes=memory)
    if name != "board":
        return Footing(name=name, state=state)
    found = open_board(PAPER if asked.board is None else fspath(asked.board))
    return Footing(name=name, state=state, memory_bytes=found.part.memory_bytes, board=found)


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


def traffic_of(network: Network, asked: Asked) -> Traffic:
    """The traffic that is asked for.

    Raises:
        BadInput: as ``footing_of``, or a layer cannot go back in one pass.
    """
    network = with_backward(network, asked.backward)
    footing = footing_of(network, asked)
    if footing.name != "board":
        check_backward(network)  # a plan runs what cannot apart
    return Traffic(network, asked.batch, footing)
