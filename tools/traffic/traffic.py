"""Memory traffic of a network as rows."""

from __future__ import annotations

from collections.abc import Iterator
from os import fspath
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.base.given import given, mention
from merp.models.base.renamed import renamed
from merp.models.network.machine_checks import check_network
from merp.models.network.network import Network
from merp.models.network.network_keys import COMBINED
from merp.models.network.phases import COUNTED
from merp.models.traffic.bytes import bytes_of
from merp.models.traffic.closed_form import PhaseTraffic, total
from merp.models.traffic.count import Count
from merp.tools.common.boards import PAPER, open_board
from merp.tools.common.checks import with_backward
from merp.tools.common.rows import Row, Rows
from merp.tools.traffic.answer import traffic_json
from merp.tools.traffic.request import TrafficFields as Asked


def count_of(network: Network, asked: Asked) -> Count:
    """Return the count of a request; fields that are None follow the network.

    Raises:
        BadInput: fields exclude each other, or contradict the network's ``backward``.
    """
    one_pass = network.backward == COMBINED
    usual = ("all", "pooled") if one_pass else ("maps", "32")
    name, state, memory = (
        asked.count or usual[0],
        asked.state_bits or usual[1],
        asked.memory_bytes,
    )
    if one_pass and (name, state) not in (("all", "pooled"), ("board", "pooled")):
        raise BadInput(
            f'{network.name}: backward = "{COMBINED}": one pass takes deltas at pooled resolution: '
            f"allowed are counts all and board, state pooled; not count {name}, state {state}"
        )
    if name == "maps" and state != "32":
        raise BadInput(
            f"{given('state_bits', state)}: allowed with {mention('count', 'all')} or board"
        )
    for key, value in (("memory_bytes", memory), ("board", asked.board)):
        if value is not None and name != "board":
            raise BadInput(f"{given(key, value)}: allowed with {mention('count', 'board')}")
    if memory is not None:
        return Count(name=name, state=state, memory_bytes=memory)
    if name != "board":
        return Count(name=name, state=state)
    found = open_board(PAPER if asked.board is None else fspath(asked.board))
    return Count(name=name, state=state, memory_bytes=found.part.memory_bytes, board=found)


class Traffic(Rows):
    """One row for each layer and phase, from the closed form (CNN-MERP section IV).

    The keys of a row are ``layer``, ``kind``, ``phase``, ``operations``, ``bytes`` and
    ``mb_per_gflop`` (10^6 bytes per 10^9 operations).

    Attributes:
        network: the network.
        batch: images of a step.
        counted: the words that the bytes include.
        layers: the same by layer, with the bytes of each stream.
    """

    def __init__(self, network: Network, batch: int, count: Count) -> None:
        self.network, self.batch, self.counted = network, batch, count
        self.layers = tuple(bytes_of(network).layers(network, batch, count))
        title = f"Memory traffic of {network.name}, batch {batch}, count {count.name}"
        super().__init__(title, self._made())

    def _made(self) -> Iterator[Row]:
        for each in self.layers:
            for name in COUNTED:
                phase: PhaseTraffic | None = getattr(each, name)
                if phase is not None:
                    yield {
                        "layer": each.layer.name,
                        "kind": each.layer.kind,
                        "phase": name,
                        "operations": phase.operations,
                        "bytes": phase.bytes,
                        "mb_per_gflop": phase.mb_per_gflop,
                    }

    @property
    def footing(self) -> Count:
        """The former name of ``counted``."""
        renamed("footing", "counted")
        return self.counted

    def total(self, phase: str = "step") -> PhaseTraffic:
        """Return the sum over all layers for ``fp``, ``dp``, ``ku``, ``bp``, or a whole
        ``step``."""
        return total(self.layers, phase)

    def json(self) -> dict[str, Any]:
        """Return the answer of ``merp traffic --json``."""
        return traffic_json(self.network, self.layers, self.batch, self.counted)


def traffic_of(network: Network, asked: Asked) -> Traffic:
    """Return the requested traffic.

    Raises:
        BadInput: as for ``count_of``, or a layer cannot have a combined backward pass.
    """
    network = with_backward(network, asked.backward)
    count = count_of(network, asked)
    if count.name != "board":
        check_network(network)  # a plan runs a layer in separate passes if it has to
    return Traffic(network, asked.batch, count)
