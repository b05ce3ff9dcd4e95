"""``merp traffic``: memory traffic per layer and phase by formula, beside what the paper prints."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from merp.models.errors import BadInput
from merp.models.network.network import Layer, Network
from merp.models.network.phases import PHASES
from merp.models.params.state_field import STATES
from merp.models.traffic.closed_form import LayerTraffic, Phase, network_traffic, total
from merp.models.traffic.footing import FOOTINGS, XC7K325T_BYTES, Footing
from merp.models.traffic.strategies import round_trips, staircase
from merp.tools.common.arguments import add_json, add_network, whole
from merp.tools.common.shipped import open_network
from merp.tools.traffic.compare import paired, print_comparison, ratios
from merp.tools.traffic.tables import print_strategies, print_traffic


def add_parser(subparsers: Any) -> None:
    """Add the verb."""
    parser = subparsers.add_parser("traffic", help="memory traffic per layer and phase")
    add_network(parser)
    parser.add_argument("--batch", type=whole(1, 1 << 16), default=128, metavar="IMAGES")
    parser.add_argument("--footing", choices=FOOTINGS, default="paper", help="what is counted")
    parser.add_argument(
        "--state-bits", choices=STATES, help="state kept for ReLU' and un-pooling (default 32)"
    )
    parser.add_argument(
        "--memory",
        type=whole(1, 1 << 40),
        metavar="BYTES",
        help=f"on-chip memory of footing board (default {XC7K325T_BYTES}, the XC7K325T's)",
    )
    parser.add_argument(
        "--strategies", action="store_true", help="show what each strategy of the paper saves"
    )
    parser.add_argument(
        "--compare", metavar="NETWORK", help="another network or .toml file, beside the first"
    )
    parser.add_argument("--layer", help="of --strategies (default: all convolution layers)")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the traffic of a network."""
    footing = _footing(args)
    network = open_network(args.network)
    if args.strategies:
        layers = [layer for layer in network.layers if layer.kind == "conv"]
        if args.layer is not None:
            layers = [network.layer(args.layer)]
        if args.json:
            print(json.dumps(strategies_json(network, layers, args.batch), indent=2))
        else:
            print_strategies(network, layers, args.batch)
        return 0
    traffic = network_traffic(network, args.batch, footing)
    if args.compare is not None:
        other = open_network(args.compare)
        beside = network_traffic(other, args.batch, footing)
        pairs = paired(traffic, beside)
        if args.json:
            answers = [
                traffic_json(some, counted, args.batch, footing)
                for some, counted in ((network, traffic), (other, beside))
            ]
            print(json.dumps({"networks": answers, "ratio": ratios(pairs)}, indent=2))
        else:
            print_comparison((network, other), pairs, args.batch, footing)
        return 0
    if args.json:
        print(json.dumps(traffic_json(network, traffic, args.batch, footing), indent=2))
    else:
        print_traffic(network, traffic, args.batch, footing)
    return 0


def _footing(args: argparse.Namespace) -> Footing:
    """Return the footing asked for; options that it would ignore are refused."""
    rules = (
        ("--layer", args.layer, args.strategies, "--strategies"),
        ("--compare", args.compare is not None, not args.strategies, "no --strategies"),
        ("--footing", args.footing != "paper", not args.strategies, "no --strategies"),
        ("--state-bits", args.state_bits, args.footing != "paper", "--footing full or board"),
        ("--memory", args.memory, args.footing == "board", "--footing board"),
    )
    for option, given, usable, needed in rules:
        if given and not usable:
            raise BadInput(f"traffic: {option}: allowed only with {needed}")
    return Footing(
        name=args.footing,
        state=args.state_bits or "32",
        memory_bytes=args.memory or XC7K325T_BYTES,
    )


def _phase_json(phase: Phase | None) -> dict[str, Any] | None:
    if phase is None:
        return None
    known = {
        "bytes": phase.bytes,
        "operations": phase.operations,
        "mb_per_gflop": phase.mb_per_gflop,
        "streams": dict(phase.streams),
    }
    return known | ({"momentum_bytes": phase.momentum} if phase.momentum else {})


def traffic_json(
    network: Network, traffic: tuple[LayerTraffic, ...], batch: int, footing: Footing
) -> dict[str, Any]:
    """Return the answer for machines; totals are of convolution layers, and of all layers."""

    def totals(layers: list[LayerTraffic]) -> dict[str, Any]:
        return {phase: _phase_json(total(layers, phase)) for phase in (*PHASES, "step")}

    answer: dict[str, Any] = {
        "network": network.name,
        "batch": batch,
        "footing": footing.name,
        "word_bytes": network.word_bytes,
    }
    if footing.name != "paper":
        answer["state_bits"] = footing.state
    if footing.name == "board":
        answer["memory_bytes"] = footing.memory_bytes
    answer["layers"] = [
        {
            "name": each.layer.name,
            "kind": each.layer.kind,
            "operations": each.layer.operations(batch),
            **{phase: _phase_json(getattr(each, phase)) for phase in PHASES},
        }
        for each in traffic
    ]
    answer["total"] = totals([each for each in traffic if each.layer.kind == "conv"])
    answer["total_all"] = totals(list(traffic))
    return answer


def strategies_json(network: Network, layers: Sequence[Layer], batch: int) -> dict[str, Any]:
    """Return the staircase of strategies of each layer for machines."""
    word_bytes = network.word_bytes
    answers = []
    for layer in layers:
        trips = round_trips(layer, batch)
        operations = layer.operations(batch)
        answers.append(
            {
                "name": layer.name,
                "operations": operations,
                "strategies": [
                    {
                        "level": step.level,
                        "bytes": step.words * word_bytes,
                        "mb_per_gflop": step.words * word_bytes / operations * 1e3,
                        "on_chip_bytes": step.on_chip_words * word_bytes,
                    }
                    for step in staircase(layer, batch)
                ],
                "activation_bytes": trips.activation * word_bytes,
                "pooling_bytes": trips.pooling * word_bytes,
            }
        )
    return {
        "network": network.name,
        "batch": batch,
        "word_bytes": word_bytes,
        "layers": answers,
    }
