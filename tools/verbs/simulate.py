"""``merp simulate``: run layers on the hardware, compare every bit, audit every word."""

from __future__ import annotations

import argparse
import json
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from merp.cosim.engines.engine import ENGINES
from merp.models.network.phases import PHASES
from merp.models.params.bits import Bits
from merp.tools.common.arguments import add_delta_at, add_network, add_tables, whole
from merp.tools.common.complaint import complain
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.shipped import open_network
from merp.tools.simulate.choice import Choice
from merp.tools.simulate.choose import (
    ALL,
    ARRAYS,
    MOST_CUS,
    MOST_IMAGES,
    check_resume,
    check_room,
    check_wave_of,
    choose,
    pick,
)

if TYPE_CHECKING:
    from merp.tools.simulate.waves import Waves


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_network(parser)
    parser.add_argument("--layer", metavar="L", help="a layer, or all (default: the first)")
    parser.add_argument("--phase", choices=(*PHASES, ALL), default="fp", help="default fp")
    add_delta_at(parser)
    parser.add_argument(
        "--state", action="store_true", help="fp also writes the state for backward propagation"
    )
    parser.add_argument("--group", metavar="G", help="a group, or all (default 0; all with L all)")
    parser.add_argument(
        "--cus",
        type=whole(1, MOST_CUS),
        metavar="N",
        help="CUs (default: as many as the network file says)",
    )
    parser.add_argument(
        "--images",
        type=whole(1, MOST_IMAGES),
        metavar="N",
        help="default 1, with --input all of the file",
    )
    parser.add_argument(
        "--rows",
        type=whole(1, 1 << 16),
        metavar="N",
        help="fp of one layer on the first N rows of its input maps, as if they had no more "
        "(default: all)",
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
        "--wave",
        type=Path,
        metavar="FILE",
        help="waveform, .vcd or .fst, with views for GTKWave and Surfer beside it (default: none)",
    )
    parser.add_argument(
        "--wave-of",
        metavar="PATH",
        help="what it shows beside the ports: an instance with everything below, as "
        "layer.sequencer, or all (default: the ports alone)",
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
    picked = pick(network, args.layer, args.group, args.cus)
    from merp.tools.simulate.input_maps import input_maps

    maps = None
    if args.input is not None:
        from merp.tools.simulate.maps_file import read_maps

        maps = read_maps(args.input, args.images, picked.network)
    choice = choose(
        picked,
        phase=args.phase,
        images=(args.images or 1) if maps is None else len(maps),
        engine=args.engine,
        cu_array=args.cu_array,
        state=args.state,
        delta_at=args.delta_at,
        wave=args.wave,
        rows=args.rows,
    )
    check_wave_of(args.wave_of, wave=args.wave is not None)
    check_resume(args.resume, output=args.output is not None, wave=args.wave is not None)
    check_room(choice)
    with ExitStack() as held:
        output = waves = None
        if args.output is not None:
            output = held.enter_context(Output.of_folder("-o", args.output))
        if args.wave is not None:
            from merp.tools.simulate.waves import Waves

            waves = held.enter_context(Waves.to(args.wave, args.wave_of, args.engine))
        image = input_maps(choice.network, choice.images, args.image) if maps is None else maps
        return _run(args, choice, image, output, waves)


def _run(
    args: argparse.Namespace,
    choice: Choice,
    image: Bits,
    output: Output | None,
    waves: Waves | None,
) -> int:
    """Simulate with the places of the output held."""
    # The simulators' imports wait until the input is good.
    from merp.models.golden.initial import parameters as initial_parameters
    from merp.tools.simulate.finished import Finished, fingerprint
    from merp.tools.simulate.kernel_file import read_kernels
    from merp.tools.simulate.plan import plan
    from merp.tools.simulate.report import show
    from merp.tools.simulate.session import simulate_all

    parameters = initial_parameters(choice.network, args.seed)
    if args.kernels is not None:
        parameters = read_kernels(args.kernels, choice.network, parameters)
    finished = None
    if output is not None:
        sources = {each.name: each.read_bytes() for each in (args.kernels,) if each is not None}
        equal = fingerprint(choice, image, args.seed, sources)
        finished = Finished(output, choice, equal, args.resume, complain)
    with ProgressBar("simulate", plan(choice)) as bar:
        found = simulate_all(choice, image, parameters, finished, waves, bar)
    answer = found.answer(everything=ALL in (args.layer, args.phase))
    if output is not None:
        output.write(found.files(answer))
    if args.json:
        print(json.dumps(answer, indent=2))
    else:
        show(found.choice, found.results)
    return 0 if found.passed else 1
