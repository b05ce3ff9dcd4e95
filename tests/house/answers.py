"""SHA-256 of what the package computes, prints and exports, to compare two trees.

``python tests/house/answers.py -o FILE`` runs a fixed list of command lines, and writes the digest
of each answer and of each file that they write. ``--against FILE`` compares with an earlier run:
it prints what differs, and ends with status 1 if anything does. A change of structure keeps every
answer. ``--only TEXT`` runs the command lines that contain a text, ``--list`` prints all of them.

Times and fingerprints of sources (``LEFT_OUT``) are left out of JSON, everything else counts.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

LEFT_OUT = frozenset({"seconds", "build_seconds", "hardware_sha", "elaboration_sha"})
"""Keys of JSON that change with the clock, or with the sources alone."""
FIVE = ("alexnet", "digits", "lenet5", "cifar10-1x", "vgg16")
FIXED = ("digits-fixed", "cifar10-1x-fixed", "cifar10-2x-fixed", "cifar10-4x-fixed")
FLOATS = (
    "alexnet", "alexnet-1group", "alexnet-avg", "alexnet-bf16", "alexnet24", "cifar10-1x",
    "cifar10-2x", "cifar10-4x", "digits", "digits-bf16", "lenet5", "resnet-digits", "tiny3",
    "vgg16", "vgg19",
)  # fmt: skip
PAPERS = ("cifar-8-16-32-64-64", "mnist-8-16-32", "mnist-8-8", "svhn-8-16-32-64")
LANGUAGES = ("vhdl", "verilog")
TRAINING = "--data digits --batch 4 --steps 2 --seed 3"

Digests = Mapping[str, Mapping[str, str]]
"""Of each command line, the digests of its answer and of its files."""


def exports() -> Iterator[str]:
    """Every shipped design in every phase, in both languages."""
    for language in LANGUAGES:
        end = f"--language {language} -o out --json"
        for name in FLOATS:
            yield f"export {name} --all {end}"
        for name in FIXED:
            yield f"export {name} {end}"
        for layer, phase in (("conv1", "fp"), ("conv2", "bp"), ("conv2", "dp"), ("conv2", "ku")):
            yield f"export alexnet --layer {layer} --phase {phase} {end}"
            yield f"export alexnet --layer {layer} --phase {phase} {end}".replace(
                "alexnet", "digits"
            )
        yield f"export alexnet --layer conv1+conv2 --phase ff {end}"
        if language == LANGUAGES[0]:  # a package has both
            yield "system tiny3 -o out --json"
            yield "system digits-fixed --momentum -o out --json"
        yield f"export tiny3 --architecture pipeline {end}"
        yield f"export tiny3 --architecture chain --devices 3 {end}"


def answers() -> Iterator[str]:
    """What the verbs compute without hardware."""
    for name in (*FLOATS, *FIXED, *PAPERS):
        yield f"networks {name} --json"
        yield f"traffic {name} --json"
    for name in FIVE:
        for count in ("maps", "all"):
            yield f"traffic {name} --count {count} --batch 32 --json"
        yield f"traffic {name} --strategies --json"
        yield f"traffic {name} --backward combined --json"
        yield f"traffic {name} --board kc705 --json"
        yield f"plan {name} --board kc705 --json"
        yield f"plan {name} --board zc706 --batch 16 --for time --backward combined --json"
        yield f"compare {name} --json"
        yield f"explore {name} --board kc705 --json"
        yield f"workload {name} --format zigzag -o out --json"
    for name in ("digits", "cifar10-4x", "resnet-digits"):
        yield f"layout {name} --images 32 --momentum --json"
    for name in ("alexnet", "digits", "digits-fixed"):
        yield f"report {name} -o out/report.html --json"
    for name, layer in (("alexnet", "conv2"), ("digits", "conv2"), ("lenet5", "conv2")):
        for phase in ("fp", "dp", "bp", "ku"):
            yield f"registers {name} --layer {layer} --phase {phase} -o out --json"
    for phase in ("fp", "dp", "ku"):
        yield f"registers digits-fixed --layer conv2 --phase {phase} -o out --json"
    yield "sweep alexnet --over n_cu=8:48:8 --over p=1,2 --json"
    yield "sweep alexnet --architecture fpdeep --vary boards=5..25 --json"
    yield "cluster alexnet --devices 15 --images 8 --json"


def runs() -> Iterator[str]:
    """What hardware computes, on each engine, and what training leaves."""
    for name in ("digits", "digits-fixed"):
        yield f"simulate {name} --layer all --phase all --images 2 -o out --json"
    yield "simulate digits --layer conv2 --phase bp --json"
    yield "simulate digits --layer conv1+conv2 --json"
    yield "simulate digits --board kc705 --layer conv2 --tiles sample:2 --json"
    yield "simulate digits --layer conv1 --phase ku --engine verilator --json"
    for name in ("digits", "digits-fixed"):
        for engine in ("golden", "myhdl", "verilator"):
            yield f"train {name} {TRAINING} --engine {engine} --save saved.npz -o out --json"
    yield f"train digits {TRAINING} --board kc705 --save saved.npz --json"
    for several in ("mazouz", "fpdeep --devices 2"):
        options = f"--engine myhdl --architecture {several} --save saved.npz"
        yield f"train digits {TRAINING} {options} --json"


def compared(value: object) -> object:
    """A JSON value without ``LEFT_OUT``."""
    if isinstance(value, dict):
        return {key: compared(x) for key, x in value.items() if key not in LEFT_OUT}
    if isinstance(value, list):
        return [compared(each) for each in value]
    return value


def digest(content: bytes, *, is_json: bool) -> str:
    """The digest of an answer or a file."""
    if is_json:
        content = json.dumps(compared(json.loads(content))).encode()
    return hashlib.sha256(content).hexdigest()


def run(command: str) -> dict[str, str]:
    """Run one command line in an empty folder; its digests by file name, ``-`` for the answer."""
    with TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "merp.tools.cli", *command.split()],
            cwd=folder,
            capture_output=True,
            env=os.environ | {"SOURCE_DATE_EPOCH": "0"},
        )
        if done.returncode:
            return {"-": f"status {done.returncode}: {done.stderr.decode().strip()[-200:]}"}
        found = {"-": digest(done.stdout, is_json=True)}
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                name = path.relative_to(folder).as_posix()
                found[name] = digest(path.read_bytes(), is_json=path.suffix == ".json")
    print(f"{len(found):5} {command}", file=sys.stderr, flush=True)
    return found


def difference(old: Digests, new: Digests) -> list[str]:
    """What two runs do not share, a line each, of the command lines that both have."""
    found = [f"not run before: {command}" for command in new if command not in old]
    for command in (each for each in new if each in old):
        before, now = old[command], new[command]
        found += [
            f"{command}: {name}: "
            + ("gone" if name not in now else "new" if name not in before else "differs")
            for name in sorted(before.keys() | now.keys())
            if before.get(name) != now.get(name)
        ]
    return found


def main() -> int:
    """Run, write and compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument("-o", "--output", type=Path, help="write the digests to this file")
    parser.add_argument("--against", type=Path, help="compare with the digests in this file")
    parser.add_argument("--only", default="", help="only command lines that contain this text")
    parser.add_argument("--jobs", type=int, default=2, help="command lines at a time (default 2)")
    parser.add_argument("--list", action="store_true", help="print the command lines")
    args = parser.parse_args()
    commands = [x for x in (*answers(), *runs(), *exports()) if args.only in x]
    if args.list:
        print("\n".join(commands))
        return 0
    new: dict[str, Mapping[str, str]] = {}
    with ThreadPoolExecutor(args.jobs) as pool:
        for command, digests in zip(commands, pool.map(run, commands), strict=True):
            new[command] = digests
            if args.output:  # a run that is cut off leaves the digests that it has
                args.output.write_text(json.dumps(new, indent=0, sort_keys=True) + "\n")
    if not args.against:
        return 0
    found = difference(json.loads(args.against.read_text()), new)
    print("\n".join([*found, f"{len(found)} differences in {len(commands)} command lines"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
