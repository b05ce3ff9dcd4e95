"""Records of AlexNet's passes in hardware: ``python docs/measure.py`` makes those that are missing.

Each is a run of ``merp simulate --engine verilator``, all groups of one image, every word compared
and counted; all stand in ``docs/measured/alexnet/simulate.json``, each with the fingerprint of the
hardware it was made on, and the site's report is built with them. The file is written after every
run: what was broken off goes on where it stopped. A record whose sources have changed is made
again; where they still give the same Verilog, but for the order of its concurrent statements, it
only gets their new fingerprint.

``--no-runs`` runs nothing: what cannot be renewed is taken out. ``--check`` writes nothing, and
fails if there are any. ``--exact`` (with ``--check``) compares the Verilog as well, in minutes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from merp.cosim.engines.verilator_engine import verilog_sha
from merp.models.network.phases import ONE_PASS, PAIR, fusing, going_back_for
from merp.tools import cli
from merp.tools.common.json_file import read_json
from merp.tools.common.output import Output
from merp.tools.common.shipped import open_network
from merp.tools.report.hardware import hardware, hardware_sha
from merp.tools.report.record import FILE, HARDWARE

NAME = "alexnet"
VERILOG = "verilog_sha"
FOLDER = Path(__file__).resolve().parent / "measured" / NAME
NETWORK = open_network(NAME)
Json = dict[str, Any]
Pass = tuple[str, str, str]
"""A layer, a phase, and where its deltas lie: at ``pooled`` resolution or that of the ``sums``."""

LAYERS = ("conv5", "conv4", "conv3", "conv2", "conv1")  # the quicker ones first
WANTED: tuple[Pass, ...] = (
    tuple(
        (layer, phase, deltas)
        for deltas in ("pooled", "sums")
        for layers in (LAYERS[:3], LAYERS[3:])  # those that share a design, and its builds
        for phase in ("dp", "ku", "fp")
        for layer in layers
        if (layer, phase) != ("conv1", "dp") and (phase != "fp" or deltas == "pooled")
    )
    + tuple((layer, ONE_PASS, "pooled") for layer in LAYERS[:-1])
    + (("conv1+conv2", PAIR, "pooled"),)
)


def options(wanted: Pass) -> dict[str, bool]:
    """What the phase is built with: FP of a step writes the state that the way back needs."""
    _, phase, deltas = wanted
    return {"state": phase == "fp", "before": phase not in ("fp", PAIR) and deltas == "pooled"}


def sha(wanted: Pass) -> str:
    """Fingerprint of the hardware as it is now."""
    layer, phase, _ = wanted
    network, layer, phase = fusing(going_back_for(NETWORK, phase), layer, phase)
    return hardware_sha(network, network.layer(layer), phase, **options(wanted))


def exact(wanted: Pass) -> str:
    """Fingerprint of its Verilog as it is now."""
    layer, phase, _ = wanted
    network, layer, phase = fusing(going_back_for(NETWORK, phase), layer, phase)
    top = hardware(network, network.layer(layer), phase, **options(wanted))
    return verilog_sha(top, ordered=False)


def stale(runs: Mapping[Pass, Json]) -> list[Pass]:
    """Records of other hardware than there is now."""
    return [each for each, run in runs.items() if run[HARDWARE] != sha(each)]


def read(folder: Path = FOLDER) -> dict[Pass, Json]:
    """The records that there are."""
    path = folder / FILE
    runs = read_json(path)["runs"] if path.exists() else []
    return {(run["layer"], run["phase"], run["deltas"]): run for run in runs}


def write(runs: Mapping[Pass, Json], folder: Path = FOLDER) -> None:
    """Write the records, in the order of ``WANTED``."""
    kept = [runs[each] for each in WANTED if each in runs]
    text = json.dumps({"network": NAME, "runs": kept}, indent=1) + "\n"
    with Output.of_folder("docs/measured", folder) as output:
        output.write({FILE: text})


def simulate(wanted: Pass, now: str) -> Json:
    """Run a pass, and return its record; what the run says of itself goes to standard error.

    All runs are in this process: those that share a design convert it once.

    Args:
        now: fingerprint of the hardware as it was imported.

    Raises:
        SystemExit: it failed, or the hardware has changed meanwhile.
    """
    layer, phase, deltas = wanted
    command = ["simulate", NAME, "--json", "--layer", layer, "--phase", phase]
    command += ["--group", "all", "--engine", "verilator"]
    if phase != PAIR:
        command += ["--state"] if phase == "fp" else ["--delta-at", deltas]
    with redirect_stdout(StringIO()) as answer:
        status = cli.main(command)
    if status:
        raise SystemExit(f"{layer} {phase}: the simulation failed, status {status}")
    if sha(wanted) != now:
        raise SystemExit(f"{layer} {phase}: the hardware has changed while it ran: run this again")
    run: Json = json.loads(answer.getvalue())
    return run | {"deltas": deltas, HARDWARE: now, VERILOG: exact(wanted)}


def same(wanted: Pass, run: Json) -> bool:
    """Whether a record is of the hardware as it is: of its sources, or at least of its Verilog."""
    return run[HARDWARE] == sha(wanted) or run[VERILOG] == exact(wanted)


def renewed(wanted: Pass, run: Json | None, now: str) -> Json:
    """The record of a pass on the hardware whose fingerprint is ``now``."""
    if run is None or not same(wanted, run):
        return simulate(wanted, now)
    return run if run[HARDWARE] == now else run | {HARDWARE: now}


def main() -> int:
    """Make what is missing, or as the options say."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--no-runs", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--exact", action="store_true")
    args = parser.parse_args()
    runs = read()
    if args.check:
        old = stale(runs)
        old += [each for each in runs if args.exact and runs[each][VERILOG] != exact(each)]
        for each in dict.fromkeys(old):
            print(f"{' '.join(each)}: of other hardware", file=sys.stderr)
        return 1 if old else 0
    if args.no_runs:
        write({each: run | {HARDWARE: sha(each)} for each, run in runs.items() if same(each, run)})
        return 0
    now = {each: sha(each) for each in WANTED}
    for index, each in enumerate(WANTED, start=1):
        print(f"{index} of {len(WANTED)}: {' '.join(each)}", file=sys.stderr, flush=True)
        found = renewed(each, runs.get(each), now[each])
        if found is not runs.get(each):
            runs[each] = found
            write(runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
