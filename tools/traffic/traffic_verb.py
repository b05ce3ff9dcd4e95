"""``merp traffic``: memory traffic per layer and phase by formula, with the paper's values."""

from __future__ import annotations

from dataclasses import replace

from merp.models.base.errors import BadInput
from merp.models.network.network import Network
from merp.models.traffic.published import BATCH
from merp.tools.common import fields
from merp.tools.common.checks import with_backward
from merp.tools.common.shipped import open_network
from merp.tools.traffic.answer import strategies_json
from merp.tools.traffic.compare import paired, print_comparison, ratios
from merp.tools.traffic.request import BUS, TrafficOptions
from merp.tools.traffic.tables import (
    has_papers_layers,
    is_published,
    print_strategies,
    print_traffic,
)
from merp.tools.traffic.traffic import traffic_of

REQUEST = TrafficOptions


def run(asked: TrafficOptions) -> int:
    """Print the traffic of a network."""
    network = open_network(asked.network, fuses=True)
    if asked.strategies:
        if asked.errata and not has_papers_layers(network, asked.batch):
            raise _unpublished(network)
        return _strategies(network, asked)
    if asked.count == BUS:
        return _on_bus(with_backward(network, asked.backward), asked)
    if asked.count is None and asked.board is not None:
        asked = replace(asked, count="board")
    traffic = traffic_of(network, asked)
    if asked.errata and not is_published(traffic.network, asked.batch, traffic.counted):
        raise _unpublished(network)
    if asked.compare is not None:
        # The second network gets the count that the first one's backward pass selects.
        beside = traffic_of(
            open_network(asked.compare, fuses=True), replace(asked, count=traffic.counted.name)
        )
        pairs = paired(traffic.layers, beside.layers)
        both = (traffic.network, beside.network)
        return fields.answered(
            asked,
            {"networks": [traffic.json(), beside.json()], "ratio": ratios(pairs)},
            lambda: print_comparison(both, pairs, asked.batch, traffic.counted),
        )
    return fields.answered(
        asked,
        traffic.json(),
        lambda: print_traffic(
            traffic.network, traffic.layers, asked.batch, traffic.counted,
            whole=asked.all, errata=asked.errata,
        ),
    )  # fmt: skip


def _unpublished(network: Network) -> BadInput:
    return BadInput(
        f"{network.name}: --errata: the paper has values of alexnet alone, with --batch {BATCH} "
        "and --count maps"
    )


def _on_bus(network: Network, asked: TrafficOptions) -> int:
    """Print the traffic on the memory bus."""
    from merp.tools.traffic.bus import bus_json, bus_of  # hardware: other counts do without
    from merp.tools.traffic.bus_table import print_bus

    found = bus_of(network, asked.batch)
    return fields.answered(
        asked, bus_json(network, asked.batch, found),
        lambda: print_bus(network, asked.batch, found, whole=asked.all),
    )  # fmt: skip


def _strategies(network: Network, asked: TrafficOptions) -> int:
    """Print the traffic of each strategy."""
    layers = [layer for layer in network.layers if layer.kind == "conv"]
    if asked.layer is not None:
        layers = [network.layer(asked.layer)]
    answer = strategies_json(network, layers, asked.batch)
    return fields.answered(
        asked, answer,
        lambda: print_strategies(network, layers, asked.batch, errata=asked.errata),
    )  # fmt: skip
