"""Read a network file (TOML); the format is described in docs/networks.md.

A file describes each layer by its maps, kernel, stride, pad, groups and pooling. Input maps and
sizes follow from the layer whose output it takes. Every number is checked here, so that each
message gives the file's own key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merp.models.base.errors import BadInput
from merp.models.base.file_format import KEY, NETWORK, check_format
from merp.models.base.fixed import FIXED16, FixedFormat
from merp.models.base.toml_section import Section, read_toml
from merp.models.base.users import LayerUse, Users
from merp.models.network.branches import misplaced, previous
from merp.models.network.fixed_table import LAYER_KEY, check_outputs, read_numbers
from merp.models.network.layer_section import Size, output_of, read_input, read_layer
from merp.models.network.network import Layer, Network
from merp.models.network.network_base import with_base
from merp.models.network.network_keys import (
    AUTO,
    BACKWARD,
    FORMAT,
    INPUT_OF,
    LAYER_FUSION,
    TRAINABLE,
)
from merp.models.network.registry import read_design
from merp.models.network.storage_table import of_design, read_storage

if TYPE_CHECKING:
    from merp.models.base.bits import Bits


def read_network(path: Path, bases: Path | None = None) -> Network:
    """Read and check the network file ``path``.

    bases: folder of the networks that ``base`` may name; by default that of ``path``.

    Raises:
        BadInput: unreadable, not TOML, an unknown key, a value out of range, sizes that do not
            chain, or a layer that its design cannot run. The message is one line.
    """
    return network_of(path.name, read_tables(path, bases))


def read_tables(path: Path, bases: Path | None = None) -> dict[str, Any]:
    """Return the tables of the network file ``path``, laid over those of its base; not checked.

    Raises:
        BadInput: unreadable, not TOML, of a newer format, or of a base that does not exist.
    """
    tables = read_toml(path)
    check_format(path.name, tables, NETWORK)
    return with_base(path.name, tables, bases or path.parent)


def network_of(
    file: str,
    tables: Mapping[str, Any],
    weights: Mapping[str, tuple[Bits, Bits]] | None = None,
) -> Network:
    """Make a network of the tables of a file, which messages call ``file``.

    weights: the numbers that it has.

    Raises:
        BadInput: as in ``read_network``.
    """
    root = Section(file, "file", tables)
    head = root.table("network")
    head.where = "network"
    name = head.name()
    fractions = _own_fractions(file, tables.get("layer"))
    numbers = read_numbers(root, head, fractions)
    storage = None
    if head.has("storage"):
        if isinstance(numbers, FixedFormat):
            raise head.bad("storage", f"absent with {FORMAT.key} = {FIXED16!r}")
        storage = read_storage(head.table("storage"), numbers)
    backward = BACKWARD.read(head)
    layer_fusion = LAYER_FUSION.read(head)
    size = read_input(head.table("input"))
    head.finish()
    tables = root.value("layer")
    designs = root.value("design") if root.has("design") else {}
    root.has(KEY)  # checked when the file was read
    root.finish()
    if not isinstance(tables, list) or not tables:
        raise root.bad("layer", "one or more [[layer]] tables")
    if not isinstance(designs, dict):
        raise root.bad("design", "tables [design.<name>]")
    taken: set[str] = set()
    for index, key in enumerate(designs):
        Section(file, f"design {index + 1}", {"name": key}).name(taken)
    layers: list[Layer] = []
    taken = set()
    named: dict[str, str | None] = {key: key for key in designs}
    named.setdefault(AUTO, None)
    outputs: dict[str, Size] = {}
    for index, table in enumerate(tables):
        section = Section(file, f"layer {index + 1}", table)
        front = output_of(layers[-1]) if layers else size
        layer = read_layer(section, section.name(taken), front, named, outputs, numbers)
        outputs[layer.name] = output_of(layer)
        layers.append(layer)
    if not any(layer.trainable for layer in layers):
        raise BadInput(
            f"{file}: no layer is trainable: at least one convolution or full connection must be, "
            f"without {TRAINABLE.key} = false"
        )
    for each in layer_fusion:
        if each not in outputs:
            raise head.bad(LAYER_FUSION.key, f"names of layers: {', '.join(outputs)}")
    if "+".join(layer_fusion) in outputs:  # messages name the two layers like this
        raise head.bad(LAYER_FUSION.key, f"absent, or no layer called {'+'.join(layer_fusion)}")
    wrong = misplaced(layers)
    if wrong is not None:
        raise BadInput(f"{file}: {wrong}")
    network = Network(
        name=name,
        input=size,
        numbers=numbers,
        layers=tuple(layers),
        weights=weights or {},
        storage=storage,
        backward=backward,
        layer_fusion=layer_fusion,
    )
    if isinstance(numbers, FixedFormat):
        for layer in layers:
            front = previous(network, layer)
            if layer.only_pools:
                raise BadInput(
                    f"{file}: layer {layer.name}: allowed are convolutions and full connections "
                    f"with {FORMAT.key} = {FIXED16!r}: its kernels of 1 need a float format"
                )
            if isinstance(layer.input, tuple):
                raise BadInput(
                    f"{file}: layer {layer.name}: {INPUT_OF.key}: allowed is one layer with "
                    f"{FORMAT.key} = {FIXED16!r}: outputs may have different fraction bits"
                )
            check_outputs(file, numbers, layer.name, front and front.name)
    using: dict[str, list[Layer]] = {key: [] for key in designs}
    for layer in layers:
        if layer.design is not None:
            using[layer.design].append(layer)
    made = {
        key: read_design(
            Section(file, f"design {key}", table), key, _users(file, network, key, using[key])
        )
        for key, table in designs.items()
    }
    return replace(network, designs=made)


def _own_fractions(file: str, tables: object) -> dict[str, Section]:
    """Return the fraction tables of the layers that have their own."""
    found = {}
    for table in tables if isinstance(tables, list) else ():
        if isinstance(table, Mapping) and LAYER_KEY in table:
            name = str(table.get("name"))
            where = f"layer {name}: {LAYER_KEY}"
            found[name] = Section(file, where, table[LAYER_KEY])
    return found


def _users(file: str, network: Network, key: str, using: Sequence[Layer]) -> Users:
    """Return the layers ``using``, which name the design ``key``, for its reader."""
    first = network.layers[0].name
    fronts = {layer.name: previous(network, layer) for layer in using}
    return Users(
        layers={
            layer.name: LayerUse(
                shape=layer.shape,
                groups=layer.groups,
                taken=output_of(front) if (front := fronts[layer.name]) else network.input,
                chained=layer.input is None and layer.add is None,
            )
            for layer in using
        },
        numbers=network.numbers,
        added=any(layer.add is not None for layer in using),
        storage=of_design(file, key, [layer.name for layer in using], first, network.storage),
    )
