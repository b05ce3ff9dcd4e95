"""``merp networks``: the shipped networks, or one network's layers and designs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from dataclasses import fields as fields_of
from typing import Any

from merp.models.base.shape import Padding, Pool
from merp.models.network.network import Layer, Network
from merp.models.network.network_keys import COMBINED, json_backward
from merp.tools.common import fields
from merp.tools.common.shipped import open_network, shipped_names
from merp.tools.common.table import console, fixed, table


@dataclass(frozen=True, kw_only=True)
class NetworksOptions(fields.Tables):
    """The options of the verb."""

    network: str | None = fields.network(required=False)


REQUEST = NetworksOptions


def run(asked: NetworksOptions) -> int:
    """Print the networks, or the one that was named."""
    if asked.network is None:
        networks = [open_network(name) for name in shipped_names()]
        return fields.answered(
            asked,
            {"networks": [_summary(network) for network in networks]},
            lambda: _print_list(networks),
        )
    network = open_network(asked.network, fuses=True)
    return fields.answered(asked, _details(network), lambda: _print_details(network))


def _summary(network: Network) -> dict[str, Any]:
    return {
        "name": network.name,
        "input": dict(zip(("rows", "columns", "channels"), network.input, strict=True)),
        "layers": [layer.name for layer in network.layers],
        "operations": sum(layer.operations() for layer in network.layers),
        "kernels": sum(layer.kernels for layer in network.layers),
        "designs": list(network.designs),
    }


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


def _layer(layer: Layer) -> dict[str, Any]:
    shape = layer.shape
    return {
        "name": layer.name,
        "kind": layer.kind,
        "groups": layer.groups,
        **asdict(shape),
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
    summary["designs"] = {name: asdict(design) for name, design in network.designs.items()}
    return summary


def _pooling(pool: Pool | None) -> str:
    if pool is None:
        return "-"
    around = f" pad {_padding(pool.pad)}" if pool.pad else ""
    return f"{pool.kind} {pool.window}/{pool.stride}{around}"


def _padding(pad: Padding) -> str:
    return str(pad) if isinstance(pad, int) else " ".join(map(str, pad))


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
        caption += " Convolutions but the first layer go back in one pass (bp)."
    screen.print(table(network.name, columns, rows, text_columns=3, caption=caption))
    if network.designs:
        designs = network.designs.values()
        first = next(iter(designs))  # all compute in the same numbers, so all have the same keys
        keys = [field.name for field in fields_of(first) if field.name != "fmt"]
        values = [(key, *(str(getattr(design, key)) for design in designs)) for key in keys]
        screen.print(table("Designs", ("parameter", *network.designs), values))
