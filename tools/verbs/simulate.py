"""``merp simulate``: run layers on the hardware, compare every bit, audit every word."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from merp.cosim.engines.engine import ENGINES
from merp.models.errors import BadInput
from merp.models.golden.memory import golden_bytes
from merp.models.memory import check_memory
from merp.models.network.network import Layer, Network
from merp.models.network.phases import PHASES, has_phase
from merp.models.params.bits import Bits
from merp.models.params.cnn_merp.design import ARITHMETIC, Design
from merp.models.params.cnn_merp.sizing import check_fits, size_design
from merp.testbenches.top.run import Stuck
from merp.tools.common.arguments import add_delta_at, add_network, add_tables, whole
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.shipped import open_network

ARRAYS = ("behavioural", "rtl")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_network(parser)
    parser.add_argument("--layer", metavar="L", help="a layer, or all (default: the first)")
    parser.add_argument("--phase", choices=(*PHASES, "all"), default="fp", help="default fp")
    add_delta_at(parser)
    parser.add_argument(
        "--state", action="store_true", help="fp also writes the state for backward propagation"
    )
    parser.add_argument("--group", metavar="G", help="a group, or all (default 0; all with L all)")
    parser.add_argument(
        "--cus",
        type=whole(1, 512),
        metavar="N",
        help="CUs (default: as many as the network file says)",
    )
    parser.add_argument(
        "--images", type=whole(1, 256), metavar="N", help="default 1, with --input all of the file"
    )
    maps = parser.add_mutually_exclusive_group()
    maps.add_argument(
        "--image", type=Path, metavar="FILE", help="a photograph (default: one that is shipped)"
    )
    maps.add_argument(
        "--input",
        type=Path,
        metavar="FILE",
        help=".npz whose array 'input' is (images, rows, columns, channels): floats, rounded into "
        "the network's format, or uint32 words of it (default: the photograph)",
    )
    parser.add_argument(
        "--kernels",
        type=Path,
        metavar="FILE",
        help=".npz of kernels and biases (default: random ones)",
    )
    parser.add_argument("--engine", choices=ENGINES, default="myhdl", help="default myhdl")
    parser.add_argument("--cu-array", choices=ARRAYS, help="default behavioural with myhdl")
    parser.add_argument(
        "--seed",
        type=whole(0, (1 << 32) - 1),
        default=0,
        metavar="S",
        help="of the kernels, where no file gives them",
    )
    parser.add_argument(
        "--vcd", type=Path, metavar="FILE", help="waveform of the ports (default: none)"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="report and pictures (default: none)"
    )
    parser.add_argument(
        "--resume", action="store_true", help="reuse finished layers of an identical run in DIR"
    )
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Simulate, print what was found, and return 1 if any of it is wrong."""
    network = open_network(args.network)
    layers = _layers(network, args.layer)
    group = _group(layers, args.layer, args.group)
    if args.cus is not None:
        network = _with_cus(network, layers, args.cus)
    from merp.tools.simulate.input_maps import input_maps

    given = None
    if args.input is not None:
        from merp.tools.simulate.maps_file import read_maps

        given = read_maps(args.input, args.images, network)
    images = (args.images or 1) if given is None else len(given)
    for layer in layers:
        check_fits(layer.shape, images, network.design(layer), f"{network.name}: {layer.name}")
    array = _array(args.engine, args.cu_array)
    phases = tuple(PHASES) if args.phase == "all" else (args.phase,)
    if args.vcd is not None and (len(phases) > 1 or len({layer.design for layer in layers}) > 1):
        raise BadInput(f"--vcd {args.vcd}: allowed only with one phase, and layers of one design")
    if not any(has_phase(network, layer, phase) for layer in layers for phase in phases):
        raise BadInput(
            f"--phase dp: {layers[0].name} is the first layer, its input has no delta: "
            f"allowed: fp, ku, or another layer"
        )
    if args.state and "fp" not in phases:
        raise BadInput(f"--state: --phase {args.phase} writes none: allowed with fp, all")
    if args.delta_at == "pooled" and phases == ("fp",):
        raise BadInput("--delta-at pooled: --phase fp takes no deltas: allowed with dp, ku, all")
    if args.resume and (args.output is None or args.vcd is not None):
        raise BadInput("--resume: needs the folder of the interrupted run (-o), and no --vcd")
    whole_step = args.state or phases != ("fp",)
    check_memory(
        f"simulate {network.name}, {images} image(s)",
        golden_bytes(network, layers[-1], images, whole_step=whole_step),
    )
    with ExitStack() as held:
        output = waves = None
        if args.output is not None:
            output = held.enter_context(Output.of_folder("-o", args.output))
        if args.vcd is not None:
            waves = held.enter_context(Output.of_file("--vcd", args.vcd))
        image = input_maps(network, images, args.image) if given is None else given
        return _run(args, network, layers, phases, group, array, image, output, waves)


def _run(
    args: argparse.Namespace,
    network: Network,
    layers: Sequence[Layer],
    phases: tuple[str, ...],
    group: int | None,
    array: str,
    image: Bits,
    output: Output | None,
    waves: Output | None,
) -> int:
    """Simulate with the places of the output held."""
    # The simulators' imports wait until the input is good.
    from merp.cosim.architectures import phases_of
    from merp.models.golden.golden_step import GoldenStep
    from merp.models.golden.initial import parameters as initial_parameters
    from merp.tools.simulate.choice import Choice
    from merp.tools.simulate.finished import Finished, fingerprint
    from merp.tools.simulate.kernel_file import read_kernels
    from merp.tools.simulate.plan import plan
    from merp.tools.simulate.result import Result
    from merp.tools.simulate.run import simulate

    choice = Choice(
        network=network,
        layers=tuple(layers),
        phases=phases,
        group=group,
        images=len(image),
        engine=args.engine,
        array=array,
        vcd=None if waves is None else waves.draft(waves.name),
        state=args.state,
        before=args.delta_at == "pooled",
    )
    parameters = initial_parameters(network, args.seed)
    if args.kernels is not None:
        parameters = read_kernels(args.kernels, network, parameters)
    golden = GoldenStep(network, layers, image, parameters)
    finished = None
    if output is not None:
        equal = fingerprint(choice, image, args.seed, args.kernels)
        finished = Finished(output, choice, equal, args.resume)
    results: list[Result] = []
    try:
        with ProgressBar("simulate", plan(choice)) as bar:
            for phase, sharing in phases_of(
                network, layers, phases, state=choice.state, before=choice.before
            ):
                results += simulate(
                    phase, sharing, group, golden, finished, args.engine, array, choice.vcd, bar
                )
    except Stuck:
        if waves is not None:
            waves.commit()  # it shows where
        raise
    if waves is not None:
        waves.commit()

    from merp.tools.simulate import report as simulate_report

    everything = "all" in (args.layer, args.phase)
    answer = simulate_report.answer(choice, results, everything=everything)
    if output is not None:
        output.write(simulate_report.files(choice, results, answer, golden))
    if args.json:
        print(json.dumps(answer, indent=2))
    else:
        simulate_report.show(choice, results)
    return 0 if all(result.audit.passed for result in results) else 1


def _layers(network: Network, asked: str | None) -> list[Layer]:
    """The layers to run, each with a design."""
    if asked != "all":
        layer = network.layer(asked) if asked is not None else network.layers[0]
        network.design(layer)  # says so where there is none
        return [layer]
    # Each layer feeds the next, so the first that is traffic-only ends the chain.
    layers: list[Layer] = []
    for layer in network.layers:
        if layer.design is None:
            break
        layers.append(layer)
    if not layers:
        network.design(network.layers[0])
    return layers


def _group(layers: Sequence[Layer], layer: str | None, asked: str | None) -> int | None:
    """The group to run; None is all of them."""
    if layer == "all":
        if asked not in (None, "all"):
            raise BadInput(f"--group {asked}: with --layer all every group runs: allowed: all")
        return None
    if asked == "all":
        return None
    groups = layers[0].groups
    if asked is None:
        return 0
    if not asked.isdecimal() or int(asked) >= groups:
        raise BadInput(
            f"--group {asked}: {layers[0].name} has {groups}: allowed: 0 to {groups - 1}, all"
        )
    return int(asked)


def _array(engine: str, asked: str | None) -> str:
    if engine == "myhdl":
        return asked or "behavioural"
    if asked == "behavioural":
        raise BadInput(f"--cu-array behavioural: --engine {engine} runs the hardware: allowed: rtl")
    return "rtl"


def _with_cus(network: Network, layers: Sequence[Layer], cus: int) -> Network:
    """The network with every design of ``layers`` sized anew for ``cus`` CUs."""
    designs = dict(network.designs)
    for name in {layer.design for layer in layers if layer.design}:
        shapes = [layer.shape for layer in network.layers if layer.design == name]
        designs[name] = _sized(designs[name], shapes, cus)
    return replace(network, designs=designs)


def _sized(design: Design, shapes: Sequence[Any], cus: int) -> Design:
    kept = (*ARITHMETIC, "k", "p", "d", "max_images")
    chosen = {key: getattr(design, key) for key in kept}
    try:
        return size_design(shapes, **chosen, n_cu=cus, r=min(design.r, cus))
    except ValueError as error:
        raise BadInput(f"--cus {cus}: {error}") from error
