"""``merp simulate``: run layers on the hardware, compare every bit, audit every word."""

from __future__ import annotations

import argparse
import json
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from merp.cosim.engines.engine import ENGINES
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.base.given import name_of
from merp.models.golden.loss import LOSSES
from merp.models.network.network import Network
from merp.tools.common.arguments import (
    PHASE,
    add_delta_at,
    add_network,
    add_phase,
    add_tables,
    add_written,
    whole,
)
from merp.tools.common.boards import add_board, open_board
from merp.tools.common.complaint import complain
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.resumable import noted, resumable
from merp.tools.common.shipped import open_network
from merp.tools.plan.options import GOAL, STATE, add_planning
from merp.tools.simulate.choice import Choice
from merp.tools.simulate.choose import (
    ALL,
    ARRAYS,
    MOST_CUS,
    MOST_IMAGES,
    check_resume,
    check_room,
    check_wave_of,
    pick,
)
from merp.tools.simulate.choosers import choose

if TYPE_CHECKING:
    from merp.tools.simulate.kept_files import KeptFiles
    from merp.tools.simulate.simulated import Simulated, Words
    from merp.tools.simulate.waves import Waves
    from merp.tools.tiles.choice import Choice as PassesChoice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_network(parser)
    parser.add_argument("--layer", metavar="L", help="a layer, or all (default: the first)")
    add_phase(parser, ALL)
    parser.set_defaults(phase=None)  # one that is asked for is told from none
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
        "--batch",
        type=whole(1, MOST_IMAGES),
        metavar="N",
        help="in a run, the batch of a plan; default 1, with --input all of the file",
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
        "--weights",
        type=Path,
        metavar="FILE",
        help=".npz of kernels and biases (default: a model's own, else random ones)",
    )
    parser.add_argument("--engine", choices=ENGINES, default="myhdl", help="default myhdl")
    parser.add_argument("--cu-array", choices=ARRAYS, help="default behavioural with myhdl")
    parser.add_argument(
        "--seed",
        type=whole(0, (1 << 32) - 1),
        default=0,
        metavar="S",
        help="of the kernels, where no file gives them, and of a sample of passes",
    )
    add_written(
        parser,
        "--wave",
        metavar="FILE",
        help="waveform, .vcd or .fst, with views for GTKWave and Surfer beside it (default: none)",
        place=Output.of_file,
    )
    parser.add_argument(
        "--wave-of",
        metavar="PATH",
        help="what it shows beside the ports: an instance with everything below, as "
        "layer.windows, or all (default: the ports alone)",
    )
    add_written(
        parser,
        "-o",
        "--output",
        metavar="DIR",
        help="report and pictures (default: none)",
        place=Output.of_folder,
    )
    parser.add_argument(
        "--resume", action="store_true", help="reuse finished work of an identical run in DIR"
    )
    parser.add_argument(
        "--schedule",
        action="store_true",
        help="on the MAC array: every pass of all images from one start, with the loss on chip",
    )
    parser.add_argument(
        "--loss", choices=LOSSES, help="with --schedule (default hinge; cross-entropy: host only)"
    )
    add_board(parser, "none: layers in one piece")
    parser.add_argument(
        "--tiles",
        metavar="all|sample:N",
        help="with --board: every pass of its plan, or N of each layer and phase, drawn by the "
        "seed, the last one among them (default all)",
    )
    add_planning(parser)
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Simulate, print what was found, and return 1 if any of it is wrong."""
    network = open_network(args.network, fuses=True)
    _check_board(args)
    _check_schedule(args)
    if args.board is not None:
        return _run_on_board(args, network)
    if args.schedule:
        return _run_schedule(args, network)
    picked = pick(network, args.layer, args.group, args.cus)
    from merp.tools.simulate.simulated import simulated_of  # slow imports wait

    machine = simulated_of(picked.network, picked.layers)
    maps = None
    if args.input is not None:
        from merp.tools.simulate.maps_file import read_maps

        maps = read_maps(args.input, args.images, picked.network, machine)
    choice = choose(
        picked,
        phase=args.phase or PHASE,
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
        if maps is None:
            maps = machine.input_maps(choice.network, choice.images, args.image)
        return _run(args, choice, machine, maps, output, waves)


def _check_board(args: argparse.Namespace) -> None:
    """Refuse what only layers in one piece have, or only a plan."""
    whole = ("delta_at", "state", "group", "cus", "rows", "wave", "wave_of")
    planned = ("tiles", "goal", "state_bits", "apart")
    wrong = planned if args.board is None else whole
    for name in wrong:
        if getattr(args, name) not in (None, False):
            board = name_of("board")
            raise BadInput(
                f"{name_of(name)}: allowed {'with' if wrong is planned else 'without'} {board}"
            )


def _check_schedule(args: argparse.Namespace) -> None:
    """Refuse what one start of all passes does not have, or what only it has."""
    if not args.schedule and args.loss is not None:
        raise BadInput(f"{name_of('loss')}: allowed with {name_of('schedule')}")
    alone = (
        "state", "group", "cus", "rows", "input", "kernels", "wave", "wave_of", "output", "resume",
        "board",
    )  # fmt: skip
    for name in alone if args.schedule else ():
        if getattr(args, name) not in (None, False):
            raise BadInput(f"{name_of(name)}: allowed without {name_of('schedule')}")
    if args.schedule and (args.layer not in (None, ALL) or args.phase not in (None, ALL)):
        raise BadInput(f"{name_of('schedule')}: allowed with all layers and phases")


def _run_schedule(args: argparse.Namespace, network: Network) -> int:
    """Simulate all passes from one start."""
    from merp.tools.simulate.mac_array import MacArray
    from merp.tools.simulate.scheduled import answer, choose_schedule, show, simulate_schedule

    choice, loss = choose_schedule(
        network,
        images=args.images or 1,
        engine=args.engine,
        cu_array=args.cu_array,
        delta_at=args.delta_at,
        loss=args.loss,
    )
    check_room(choice)
    machine = MacArray()
    maps = machine.input_maps(choice.network, choice.images, args.image)
    parameters = machine.parameters(choice.network, args.seed, None)
    with ProgressBar("simulate") as bar:
        found = simulate_schedule(choice, loss, maps, parameters, bar)
    if args.json:
        print(json.dumps(answer(found), indent=2))
    else:
        show(found)
    return 0 if found.audit.passed else 1


def _run_on_board(args: argparse.Namespace, network: Network) -> int:
    """Simulate the passes of a plan."""
    from merp.tools.simulate.input_maps import input_maps
    from merp.tools.tiles.choice import choose as choose_passes

    maps = None
    if args.input is not None:
        from merp.tools.simulate.cnn_merp import CnnMerp
        from merp.tools.simulate.maps_file import read_maps

        maps = read_maps(args.input, args.images, network, CnnMerp())
    choice = choose_passes(
        network,
        open_board(args.board),
        layer=args.layer,
        phase=args.phase or PHASE,
        tiles=ALL if args.tiles is None else args.tiles,
        images=(args.images or 1) if maps is None else len(maps),
        goal=args.goal or GOAL,
        state=args.state_bits or STATE,
        apart=args.apart,
        seed=args.seed,
        engine=args.engine,
        cu_array=args.cu_array,
    )
    check_resume(args.resume, output=args.output is not None, wave=False)
    with ExitStack() as held:
        output = None
        if args.output is not None:
            output = held.enter_context(Output.of_folder("-o", args.output))
        image = input_maps(network, choice.plan.batch, args.image) if maps is None else maps
        return _run_passes(args, choice, image, output)


def _run_passes(
    args: argparse.Namespace, choice: PassesChoice, image: Bits, output: Output | None
) -> int:
    """Simulate with the place of the output held."""
    from merp.tools.simulate.cnn_merp import CnnMerp
    from merp.tools.tiles.draw import planned_work
    from merp.tools.tiles.finished import Finished, fingerprint
    from merp.tools.tiles.report import answer, files, show
    from merp.tools.tiles.session import simulate_plan

    parameters = CnnMerp().parameters(choice.plan.network, args.seed, args.kernels)
    with ExitStack() as held:
        finished = None
        if output is not None:
            equal = fingerprint(choice, image, _sources(args))
            finished = Finished(_kept(held, args, output, equal), choice)
        with ProgressBar("simulate", planned_work(choice)) as bar:
            results = simulate_plan(choice, image, parameters, finished, bar)
        found = answer(choice, results)
        if output is not None:
            output.write(files(choice, results, found))
    if args.json:
        print(json.dumps(found, indent=2))
    else:
        show(choice, results)
    return 1 if any(result.failures for result in results) else 0


def _kept(held: ExitStack, args: argparse.Namespace, output: Output, fingerprint: str) -> KeptFiles:
    """Where finished work is kept; an interrupt says how to go on from there."""
    from merp.tools.simulate.kept_files import KeptFiles

    kept = KeptFiles(output, fingerprint, args.resume, complain)
    held.enter_context(resumable(args, "--resume"))
    held.enter_context(noted(kept.said))
    return kept


def _sources(args: argparse.Namespace) -> dict[str, bytes]:
    """The contents of the files that parameters come from beside the seed."""
    return {} if args.kernels is None else {args.kernels.name: args.kernels.read_bytes()}


def _run(
    args: argparse.Namespace,
    choice: Choice,
    machine: Simulated,
    image: Words,
    output: Output | None,
    waves: Waves | None,
) -> int:
    """Simulate with the places of the output held."""
    # The simulators' imports wait until the input is good.
    from merp.tools.simulate.finished import Finished, fingerprint
    from merp.tools.simulate.plan import plan
    from merp.tools.simulate.report import show
    from merp.tools.simulate.session import simulate_all

    parameters = machine.parameters(choice.network, args.seed, args.kernels)
    with ExitStack() as held:
        finished = None
        if output is not None:
            equal = fingerprint(choice, image, args.seed, _sources(args))
            finished = Finished(_kept(held, args, output, equal), choice)
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
