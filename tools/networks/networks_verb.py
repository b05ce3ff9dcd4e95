"""``merp networks``: list the shipped networks, or the layers and designs of one."""

from __future__ import annotations

import re
from dataclasses import MISSING, asdict, dataclass
from dataclasses import fields as fields_of
from typing import Any

from merp.models.base.shape import Padding, Pool
from merp.models.network.machine import Design
from merp.models.network.network import Layer, Network
from merp.models.network.network_keys import COMBINED, json_backward
from merp.models.network.registry import machine_of
from merp.tools.common import fields
from merp.tools.common.shipped import open_network, shipped_names
from merp.tools.common.shortened import in_one_format, shortened
from merp.tools.common.table import console, fixed, table


@dataclass(frozen=True, kw_only=True)
class NetworksOptions(fields.Tables):
    """The options of the verb."""

    network: str | None = fields.network(required=False)
    all: bool = fields.shows_more(
        "print every layer, all sizes and all parameters of the designs; without NETWORK, a row "
        "for each network"
    )


REQUEST = NetworksOptions
ONE_PASS_NOTE = " Convolutions after the first layer have a combined backward pass (bp)."


def run(asked: NetworksOptions) -> int:
    """Print the networks, or the named one."""
    if asked.network is None:
        networks = [open_network(name) for name in shipped_names()]
        return fields.answered(
            asked,
            {"networks": [_summary(network) for network in networks]},
            lambda: _print_list(networks) if asked.all else _print_families(networks),
        )
    network = open_network(asked.network, fuses=True)
    show = _print_details if asked.all else _print_network
    return fields.answered(asked, _details(network), lambda: show(network))


def _summary(network: Network) -> dict[str, Any]:
    return {
        "name": network.name,
        "input": dict(zip(("rows", "columns", "channels"), network.input, strict=True)),
        "layers": [layer.name for layer in network.layers],
        "operations": sum(layer.operations() for layer in network.layers),
        "kernels": sum(layer.kernels for layer in network.layers),
        "designs": list(network.designs),
    }


def _print_families(networks: list[Network]) -> None:
    """Print the names, with one row for networks whose names start with the same word."""
    families: dict[str, list[Network]] = {}
    for network in networks:
        stem = re.match("[a-z]*", network.name)
        families.setdefault(stem[0] if stem else "", []).append(network)
    rows = [
        (
            family,
            " x ".join(map(str, members[0].input)),
            ", ".join(member.name for member in members),
        )
        for family, members in families.items()
    ]
    screen = console()
    columns = ("family", "input", "networks")
    screen.print(table("Shipped networks", columns, rows, text_columns=3))
    screen.print("merp networks NAME: its layers. --all: layers and sizes of each network.")


def _print_list(networks: list[Network]) -> None:
    rows = [
        (
            network.name,
            " x ".join(map(str, network.input)),
            ", ".join(layer.name for layer in network.layers),
            fixed(sum(layer.operations() for layer in network.layers) / 1e9, 3),
            fixed(sum(layer.kernels for layer in network.layers) / 1e6, 3),
        )
        for network in networks
    ]
    columns = ("network", "input", "layers", "Gop per image and phase", "kernels, 10^6 words")
    console().print(table("Shipped networks", columns, rows, text_columns=3))


def _fields(described: Any) -> dict[str, Any]:
    """Return the fields of a shape or design, without those of other activations if unset.

    Answers about networks of ReLU alone keep their bytes.
    """
    omitted = ("relu6", "slope", "tanh", "leaky")
    return {key: value for key, value in asdict(described).items() if key not in omitted or value}


def _layer(layer: Layer) -> dict[str, Any]:
    shape = layer.shape
    return {
        "name": layer.name,
        "kind": layer.kind,
        "groups": layer.groups,
        **_fields(shape),
        "out_rows": shape.out_rows,
        "out_columns": shape.out_columns,
        "pooled_rows": shape.pooled_rows,
        "pooled_columns": shape.pooled_columns,
        "operations": layer.operations(),
        "design": layer.design,
    }


def _details(network: Network) -> dict[str, Any]:
    summary = _summary(network)
    summary["layers"] = [_layer(layer) for layer in network.layers]
    summary["backward"] = json_backward(network.backward)
    summary["designs"] = {name: _fields(design) for name, design in network.designs.items()}
    return summary


def _pooling(pool: Pool | None) -> str:
    if pool is None:
        return "-"
    around = f" pad {_padding(pool.pad)}" if pool.pad else ""
    return f"{pool.kind} {pool.window}/{pool.stride}{around}"


def _padding(pad: Padding) -> str:
    return str(pad) if isinstance(pad, int) else " ".join(map(str, pad))


def _print_network(network: Network) -> None:
    """Print the layers with the most operations, and the distinctive parameters of designs."""
    layers = network.layers
    rows = shortened([(layer.name, layer) for layer in layers], Layer.operations)
    rows.append(("all layers", list(layers)))
    sums = [sum(layer.operations() for layer in some) / 1e9 for _, some in rows]
    cells = []
    for index, ((name, some), gop) in enumerate(zip(rows, in_one_format(sums, 3), strict=True)):
        alone = len(some) == 1 and index < len(rows) - 1
        words = sum(layer.kernels for layer in some)
        cells.append([name, *(_sizes(some[0]) if alone else ["-"] * 5), gop, f"{words:,}"])
    columns = ["layer", "design", "input", "n", "m", "k", "Gop", "kernel words"]
    caption = (
        "n, m: input and output maps of one group. Gop: per image and phase. A layer without a "
        "design has traffic only."
    )
    if network.backward == COMBINED:
        caption += ONE_PASS_NOTE
    frozen = [layer.name for layer in layers if not layer.trainable]
    if frozen:
        caption += f" Frozen: {', '.join(frozen)}."
    caption += " --all: every size."
    screen = console()
    screen.print(table(network.name, columns, cells, text_columns=3, totals=1, caption=caption))
    for name, design in network.designs.items():
        settings = ", ".join(f"{key} {value}" for key, value in _given(design).items())
        screen.print(f"design {name}: {settings}")


def _sizes(layer: Layer) -> list[str]:
    """Return design, input, n, m and k of a layer."""
    shape = layer.shape
    sizes = map(str, (shape.n, shape.m, shape.k))
    return [layer.design or "-", f"{shape.rows} x {shape.columns}", *sizes]


def _given(design: Design) -> dict[str, Any]:
    """Return the parameters that a network file must give, and those that are not defaults."""
    machine = machine_of(design)
    required = {key.key for key in machine.keys if key.required}
    shown = {
        field.name: getattr(design, field.name)
        for field in fields_of(design)
        if field.name in required
        or (field.default is not MISSING and getattr(design, field.name) != field.default)
    }
    own = {field.name for field in fields_of(design)}
    return shown | {key: each for key, each in machine.table(design).items() if key not in own}


def _print_details(network: Network) -> None:
    rows = []
    for layer in network.layers:
        shape = layer.shape
        rows.append(
            (
                layer.name,
                layer.design or "traffic only",
                _pooling(shape.pool),
                *(str(x) for x in (layer.groups, shape.n, shape.m, shape.k)),
                str(shape.stride),
                _padding(shape.pad),
                f"{shape.rows} x {shape.columns}",
                f"{shape.out_rows} x {shape.out_columns}",
                f"{shape.pooled_rows} x {shape.pooled_columns}",
                fixed(layer.operations() / 1e9, 3),
                fixed(layer.kernels, 0),
            )
        )
    columns = ["layer", "design", "pooling", "groups", "n", "m", "k", "stride", "pad"]
    columns += ["input", "output", "pooled", "Gop", "kernel words"]
    screen = console()
    caption = "n, m: input and output maps of one group. Gop: per image and phase."
    if not all(isinstance(layer.shape.pad, int) for layer in network.layers):
        caption += " pad: top, left, bottom, right where sides differ."
    if network.backward == COMBINED:
        caption += ONE_PASS_NOTE
    screen.print(table(network.name, columns, rows, text_columns=3, caption=caption))
    if network.designs:
        designs = network.designs.values()
        first = next(iter(designs))  # all have the same number format, hence the same keys
        keys = [field.name for field in fields_of(first) if field.name != "fmt"]
        values = [(key, *(str(getattr(design, key)) for design in designs)) for key in keys]
        screen.print(table("Designs", ("parameter", *network.designs), values))
