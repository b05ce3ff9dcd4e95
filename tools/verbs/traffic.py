"""``merp traffic``: memory traffic per layer and phase by formula, beside what the paper prints."""

from __future__ import annotations

import argparse
import json

from merp.models.base.errors import BadInput
from merp.models.base.state_field import STATES
from merp.models.network.network_keys import FUSED
from merp.models.traffic.footing import FOOTINGS
from merp.tools.common.arguments import add_backward, add_network, add_tables, whole
from merp.tools.common.boards import add_board
from merp.tools.common.shipped import open_network
from merp.tools.library.checks import with_backward
from merp.tools.library.network import Network
from merp.tools.library.traffic import Traffic
from merp.tools.traffic.answer import strategies_json
from merp.tools.traffic.compare import paired, print_comparison, ratios
from merp.tools.traffic.tables import print_strategies, print_traffic


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_network(parser)
    parser.add_argument(
        "--batch", type=whole(1, 1 << 16), default=128, metavar="IMAGES", help="images of a step"
    )
    parser.add_argument(
        "--footing",
        choices=FOOTINGS,
        help="what is counted: see merp help footing (default paper; board with --board; full with "
        "--backward fused)",
    )
    parser.add_argument(
        "--state-bits",
        choices=STATES,
        help="state kept for ReLU' and un-pooling (default 32; pooled with --backward fused)",
    )
    parser.add_argument(
        "--memory",
        type=whole(1, 1 << 40),
        metavar="BYTES",
        help="of footing board: tiles fit so many bytes (default: the plan on a board)",
    )
    add_board(parser, default="the paper's, of footing board")
    add_backward(parser)
    parser.add_argument(
        "--strategies", action="store_true", help="show what each strategy of the paper saves"
    )
    parser.add_argument(
        "--compare",
        metavar="NETWORK",
        help="another network or .toml file, beside the first (default: none)",
    )
    parser.add_argument("--layer", help="of --strategies (default: all convolution layers)")
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Print the traffic of a network."""
    net = Network(open_network(args.network, fuses=True))
    network = with_backward(net.description, args.backward)
    if args.footing is None:
        one_pass = network.backward == FUSED and not args.strategies
        usual = "full" if one_pass else "paper"
        args.footing = "board" if args.board else usual
    _check(args)
    if args.strategies:
        layers = [layer for layer in network.layers if layer.kind == "conv"]
        if args.layer is not None:
            layers = [network.layer(args.layer)]
        if args.json:
            print(json.dumps(strategies_json(network, layers, args.batch), indent=2))
        else:
            print_strategies(network, layers, args.batch)
        return 0
    traffic = _traffic(args, net)
    if args.compare is not None:
        beside = _traffic(args, Network(open_network(args.compare, fuses=True)))
        pairs = paired(traffic.layers, beside.layers)
        if args.json:
            answers = [traffic.json(), beside.json()]
            print(json.dumps({"networks": answers, "ratio": ratios(pairs)}, indent=2))
        else:
            both = (traffic.network, beside.network)
            print_comparison(both, pairs, args.batch, traffic.footing)
        return 0
    if args.json:
        print(json.dumps(traffic.json(), indent=2))
    else:
        print_traffic(traffic.network, traffic.layers, args.batch, traffic.footing)
    return 0


def _traffic(args: argparse.Namespace, net: Network) -> Traffic:
    return net.traffic(
        args.batch,
        args.footing,
        state_bits=args.state_bits,
        memory_bytes=args.memory,
        board=args.board,
        backward=args.backward,
    )


def _check(args: argparse.Namespace) -> None:
    """Refuse options that would be ignored."""
    rules = (
        ("--layer", args.layer, args.strategies, "--strategies"),
        ("--compare", args.compare is not None, not args.strategies, "no --strategies"),
        ("--footing", args.footing != "paper", not args.strategies, "no --strategies"),
        ("--state-bits", args.state_bits, args.footing != "paper", "--footing full or board"),
        ("--backward", args.backward, not args.strategies, "no --strategies"),
        ("--memory", args.memory, args.footing == "board", "--footing board"),
        ("--board", args.board, args.footing == "board", "--footing board"),
        ("--memory", args.memory, not args.board, "no --board"),
    )
    for option, given, usable, needed in rules:
        if given and not usable:
            raise BadInput(f"traffic: {option}: allowed only with {needed}")
