"""Records of AlexNet's passes in hardware: ``python docs/measure.py`` makes those that are missing.

Each is a run of ``merp simulate --engine verilator``, all groups of one image, every word compared
and counted; they stand in ``docs/measured/NETWORK/simulate.json``, each with the fingerprint of the
hardware it was made on, and how tensors lie in memory where the network says otherwise. The site's
report is built with those of AlexNet. Of CNN-MERP's own circuit (``alexnet-kernel1``) there are
those of conv2, whose resources the paper prints. A file is written after every run: what was broken
off goes on where it stopped. A record whose sources have changed is made again; where they still
give the same Verilog, but for the order of its concurrent statements, it only gets their new
fingerprint.

``--no-runs`` runs nothing. It names the records of other hardware, and then writes nothing unless
``--remove`` is given, which takes them out. ``--check`` writes nothing, and fails if there are any.
``--exact`` (with ``--check``) compares the Verilog as well, in minutes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from merp.cosim.engines.verilator_engine import verilog_sha
from merp.models.base.file_format import KEY, RUNS, numbered
from merp.models.network.network import Layer, Network
from merp.models.network.phases import ONE_PASS, PAIR, fusing, going_back_for
from merp.tools import cli
from merp.tools.common.hardware import HARDWARE, hardware, hardware_sha
from merp.tools.common.json_file import read_json
from merp.tools.common.output import Output
from merp.tools.common.shipped import open_network
from merp.tools.report.record import FILE

VERILOG, STORAGE = "verilog_sha", "storage"
MEASURED = Path(__file__).resolve().parent / "measured"
Json = dict[str, Any]


class Pass(NamedTuple):
    """What a record is of.

    Attributes:
        network: a shipped one. layer: or two that are fused, ``conv1+conv2``. phase: of ``NAMED``.
        deltas: where they lie in memory, at ``pooled`` resolution or that of the ``sums``.
        storage: tensor and format where it lies there otherwise than ``network`` says.
        inference: two fused layers keep no state, and the map between them does not leave.
    """

    network: str
    layer: str
    phase: str
    deltas: str = "pooled"
    storage: tuple[tuple[str, str], ...] = ()
    inference: bool = False


BYTES = (("image", "uint8"),)
NARROW = (("maps", "bfloat16"), ("deltas", "bfloat16"))
LAYERS = ("conv5", "conv4", "conv3", "conv2", "conv1")  # the quicker ones first


def _step(network: str, deltas: str = "pooled") -> Iterator[Pass]:
    """The passes of a step of the convolutions, those that share a design, and its builds, first.

    FP is the same wherever deltas lie.
    """
    for layers in (LAYERS[:3], LAYERS[3:]):
        for phase, layer in product(("dp", "ku", "fp"), layers):
            if (layer, phase) != ("conv1", "dp") and (phase != "fp" or deltas == "pooled"):
                yield Pass(network, layer, phase, deltas)


WANTED = (
    *_step("alexnet"),
    *_step("alexnet", "sums"),
    *(Pass("alexnet", layer, ONE_PASS) for layer in LAYERS[:-1]),
    Pass("alexnet", "conv1+conv2", PAIR, inference=True),
    Pass("alexnet", "conv1+conv2", PAIR, storage=BYTES, inference=True),
    Pass("alexnet", "conv1", "fp", storage=BYTES),
    Pass("alexnet", "conv1", "ku", storage=BYTES),
    *(Pass("alexnet", layer, "fp", storage=NARROW) for layer in LAYERS),
    *(Pass("alexnet", layer, ONE_PASS, storage=NARROW) for layer in LAYERS[:-1]),
    Pass("alexnet", "conv1", "ku", storage=NARROW),
    *(Pass("alexnet", "conv1", phase, storage=BYTES + NARROW) for phase in ("fp", "ku")),
    *(
        Pass("alexnet", "conv1+conv2", PAIR, storage=storage)
        for storage in ((), BYTES, NARROW, BYTES + NARROW)
    ),
    *_step("alexnet-bf16"),
    *(Pass("alexnet-kernel1", "conv2", phase) for phase in ("dp", "ku", "fp")),
)


def network_file(wanted: Pass, folder: Path) -> str:
    """What ``merp`` is to open: a shipped network, or its file in ``folder`` that stores so."""
    if not wanted.storage:
        return wanted.network
    storage = ", ".join(f'{tensor} = "{form}"' for tensor, form in wanted.storage)
    base, name = f'base = "{wanted.network}"', f'name = "{wanted.network}"'
    path = folder / f"{wanted.network}.toml"
    path.write_text(f"{base}\n[network]\n{name}\nstorage = {{ {storage} }}\n")
    return str(path)


@cache
def hardware_of(wanted: Pass) -> tuple[Network, Layer, str, bool, bool]:
    """What runs: the network as it goes back and fuses, layer and phase of it; with state, before.

    FP of a step writes the state that the way back needs.
    """
    with TemporaryDirectory() as folder:
        network = open_network(network_file(wanted, Path(folder)))
    network = going_back_for(network, wanted.phase)
    network, name, phase = fusing(network, wanted.layer, wanted.phase)
    forward = phase in ("fp", PAIR)
    state, before = forward and not wanted.inference, not forward and wanted.deltas == "pooled"
    return network, network.layer(name), phase, state, before


def sha(wanted: Pass) -> str:
    """Fingerprint of the hardware as it is now."""
    network, layer, phase, state, before = hardware_of(wanted)
    return hardware_sha(network, layer, phase, state=state, before=before)


def exact(wanted: Pass) -> str:
    """Fingerprint of its Verilog as it is now."""
    network, layer, phase, state, before = hardware_of(wanted)
    top = hardware(network, layer, phase, state=state, before=before)
    return verilog_sha(top, ordered=False)


def stale(runs: Mapping[Pass, Json]) -> list[Pass]:
    """Records of other hardware than there is now."""
    return [each for each, run in runs.items() if run[HARDWARE] != sha(each)]


def read(root: Path = MEASURED) -> dict[Pass, Json]:
    """The records that there are."""
    found = {}
    for network in dict.fromkeys(each.network for each in WANTED):
        path = root / network / FILE
        for run in read_json(path)["runs"] if path.exists() else []:
            storage = tuple(run.get(STORAGE, {}).items())
            inference = run["phase"] == PAIR and "state_out" not in run["ports"]
            found[Pass(network, run["layer"], run["phase"], run["deltas"], storage, inference)] = (
                run
            )
    return found


def write(runs: Mapping[Pass, Json], root: Path = MEASURED) -> None:
    """Write the records, in the order of ``WANTED``."""
    for network in dict.fromkeys(each.network for each in WANTED):
        kept = [runs[each] for each in WANTED if each in runs and each.network == network]
        if not kept and not (root / network).exists():
            continue
        record = numbered({"network": network, "runs": kept}, RUNS)
        text = json.dumps(record, indent=1) + "\n"
        with Output.of_folder("docs/measured", root / network) as output:
            output.write({FILE: text})


def simulate(wanted: Pass, now: str) -> Json:
    """Run a pass, and return its record; what the run says of itself goes to standard error.

    All runs are in this process: those that share a design convert it once.

    Args:
        now: fingerprint of the hardware as it was imported.

    Raises:
        SystemExit: it failed, or the hardware has changed meanwhile.
    """
    options = ["--layer", wanted.layer, "--phase", wanted.phase, "--group", "all"]
    if wanted.phase not in ("fp", PAIR):
        options += ["--delta-at", wanted.deltas]
    elif not wanted.inference:
        options += ["--state"]
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()) as answer:
        network = network_file(wanted, Path(folder))
        status = cli.main(["simulate", network, "--json", "--engine", "verilator", *options])
    if status:
        raise SystemExit(f"{said(wanted)}: the simulation failed, status {status}")
    if sha(wanted) != now:
        raise SystemExit(f"{said(wanted)}: the hardware has changed while it ran: run this again")
    run: Json = json.loads(answer.getvalue())
    del run[KEY]  # it stands in front of all runs
    stored = {STORAGE: dict(wanted.storage)} if wanted.storage else {}
    return run | {"deltas": wanted.deltas} | stored | {HARDWARE: now, VERILOG: exact(wanted)}


def said(wanted: Pass) -> str:
    """A pass in words."""
    *names, storage, inference = wanted
    formats = [f"{tensor} in {form}" for tensor, form in storage]
    return " ".join([*names, *formats, *(["inference"] if inference else [])])


def same(wanted: Pass, run: Json) -> bool:
    """Whether a record is of the hardware as it is: of its sources, or at least of its Verilog."""
    return run[HARDWARE] == sha(wanted) or run[VERILOG] == exact(wanted)


def renewed(wanted: Pass, run: Json | None, now: str) -> Json:
    """The record of a pass on the hardware whose fingerprint is ``now``."""
    if run is None or not same(wanted, run):
        return simulate(wanted, now)
    return run if run[HARDWARE] == now else run | {HARDWARE: now}


def renew(root: Path = MEASURED, *, remove: bool = False) -> list[Pass]:
    """Give the records the fingerprints of the hardware as it is, without a run.

    Args:
        root: folder of the records.
        remove: take out those of other hardware; otherwise nothing is written if there are any.

    Returns:
        The passes whose records are of other hardware.
    """
    runs = read(root)
    kept = {each: run | {HARDWARE: sha(each)} for each, run in runs.items() if same(each, run)}
    others = [each for each in runs if each not in kept]
    if remove or not others:
        write(kept, root)
    return others


def main() -> int:
    """Make what is missing, or as the options say."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--no-runs", action="store_true")
    parser.add_argument("--remove", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--exact", action="store_true")
    args = parser.parse_args()
    if args.remove and not args.no_runs:
        parser.error("--remove: allowed only with --no-runs")
    if args.no_runs:
        others = renew(remove=args.remove)
        for each in others:
            print(f"{said(each)}: of other hardware", file=sys.stderr)
        return 1 if others and not args.remove else 0
    runs = read()
    if args.check:
        old = stale(runs)
        old += [each for each in runs if args.exact and runs[each][VERILOG] != exact(each)]
        for each in dict.fromkeys(old):
            print(f"{said(each)}: of other hardware", file=sys.stderr)
        return 1 if old else 0
    now = {each: sha(each) for each in WANTED}
    for index, each in enumerate(WANTED, start=1):
        print(f"{index} of {len(WANTED)}: {said(each)}", file=sys.stderr, flush=True)
        found = renewed(each, runs.get(each), now[each])
        if found is not runs.get(each):
            runs[each] = found
            write(runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
