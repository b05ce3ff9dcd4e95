"""A network, to be asked: what it moves, what it computes, what it becomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike, fspath

from merp.models.errors import BadInput, shown
from merp.models.network import network as description
from merp.models.params.state_field import STATES
from merp.models.traffic.footing import FOOTINGS, XC7K325T_BYTES, Footing
from merp.tools.common.shipped import open_network, shipped_names
from merp.tools.library.checks import one_of, whole_number
from merp.tools.library.layer import Layer
from merp.tools.library.rows import Rows
from merp.tools.library.traffic import Traffic


def load(source: str | PathLike[str]) -> Network:
    """The network of a TOML file, or the shipped one of that name (``merp.networks()``).

    Raises:
        BadInput: there is none, or the file is wrong: file, key, value, and what is allowed.
    """
    if not isinstance(source, str | PathLike):
        raise BadInput(f"load: {shown(source)}: allowed is a name or a path")
    name = fspath(source)
    if not isinstance(name, str):
        raise BadInput(f"load: {shown(source)}: allowed is a path of text, not of bytes")
    return Network(open_network(name))


def networks() -> list[str]:
    """Names of the networks that are shipped."""
    return shipped_names()


class Network(Mapping[str, Layer]):
    """Layers by name, in the order of forward propagation.

    Attributes:
        description: the layers, their designs and the number format as the tools see them.
    """

    def __init__(self, network: description.Network) -> None:
        self.description = network

    @property
    def name(self) -> str:
        """As in the network file."""
        return self.description.name

    def __getitem__(self, name: str) -> Layer:
        """The layer of that name; ``BadInput`` lists those that there are."""
        return Layer(self.description, self.description.layer(name))

    def __iter__(self) -> Iterator[str]:
        """Names of the layers."""
        return (layer.name for layer in self.description.layers)

    def __len__(self) -> int:
        """How many layers there are."""
        return len(self.description.layers)

    def __contains__(self, name: object) -> bool:
        """Whether there is a layer of that name."""
        return name in list(self)

    def __repr__(self) -> str:
        """Name and layers."""
        return f"<network {self.name}: {', '.join(self)}>"

    @property
    def layers(self) -> Rows:
        """A row per layer: sizes of one group, operations of a phase, words of kernels."""
        rows = []
        for each in self.description.layers:
            shape = each.shape
            rows.append(
                {
                    "layer": each.name,
                    "kind": each.kind,
                    "groups": each.groups,
                    "n": shape.n,
                    "rows": shape.rows,
                    "columns": shape.columns,
                    "m": shape.m,
                    "k": shape.k,
                    "operations": each.operations(),
                    "kernels": each.kernels,
                    "design": each.design or "-",
                }
            )
        return Rows(f"Layers of {self.name}", rows)

    def _repr_html_(self) -> str:
        """The table of layers, as notebooks show it."""
        return self.layers._repr_html_()

    def traffic(
        self,
        batch: int = 128,
        footing: str = "paper",
        *,
        state_bits: str = "32",
        memory_bytes: int = XC7K325T_BYTES,
    ) -> Traffic:
        """Memory traffic of a training step, per layer and phase, by the closed form.

        Args:
            batch: images of a step, 1 to 65536.
            footing: what is counted: ``paper`` (maps and deltas), ``full`` (also kernels, biases,
                state) or ``board`` (full, in tiles that fit ``memory_bytes``; modelled).
            state_bits: what ReLU' and un-pooling are given: ``32``, ``1`` or ``pooled``; other
                than 32 with ``full`` and ``board``.
            memory_bytes: on-chip memory, of ``board``; the XC7K325T's if none is given.

        Raises:
            BadInput: an argument is not what is allowed.
        """
        whole_number("batch", batch, 1, 1 << 16)
        one_of("footing", footing, FOOTINGS)
        one_of("state_bits", state_bits, STATES)
        whole_number("memory_bytes", memory_bytes, 1, 1 << 40)
        if footing == "paper" and state_bits != "32":
            raise BadInput(f"state_bits = {state_bits!r}: allowed with footing full or board")
        if footing != "board" and memory_bytes != XC7K325T_BYTES:
            raise BadInput(f"memory_bytes = {memory_bytes}: allowed with footing board")
        counted = Footing(name=footing, state=state_bits, memory_bytes=memory_bytes)
        return Traffic(self.description, batch, counted)
