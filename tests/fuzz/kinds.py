"""The kinds of cases: each makes its input in the sandbox and runs a command line on it."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
from PIL import Image

import mutate
from harness import clear, faults
from merp.models.errors import BadInput

NETWORK = """
[network]
name = "tiny"
format = "binary32"
input = { rows = 6, columns = 5, channels = 1 }

[[layer]]
name = "conv1"
maps = 2
kernel = 3
stride = 1
pad = 1
groups = 1
relu = true
pool = { kind = "max", window = 2, stride = 2 }
design = "k3"

[[layer]]
name = "fc2"
maps = 3
relu = false

[design.k3]
k = 3
n_cu = 2
r = 1
p = 1
d = 2
mul_latency = 1
add_latency = 2
"""
DERIVED = """
base = "lenet5"
[network]
name = "mine"
[layer.conv1]
maps = 8
[design.k5]
r = 1
"""
NET = Path("in/net.toml")
SIMULATE = "merp.tools.simulate.run.simulate"
ENDED = BadInput("the input is good, and nothing is simulated")


def toml(random: Random) -> list[str]:
    """A network file; a shipped base now and then."""
    text = NETWORK
    if random.randrange(8) == 0:
        text = DERIVED
    kind = random.randrange(6)
    if kind < 3:
        NET.write_text(mutate.values(random, text), errors="surrogatepass")
    elif kind < 5:
        changed = mutate.lines(random, text, mutate.toml_value(random))
        NET.write_text(changed, errors="surrogatepass")
    else:
        NET.write_bytes(mutate.content(random, text.encode()))
    verbs = [
        ["traffic", str(NET), "--json"],
        ["traffic", str(NET), "--footing", random.choice(("full", "board"))],
        ["traffic", str(NET), "--strategies"],
        ["networks", str(NET)],
        ["networks", str(NET), "--json"],
        ["workload", str(NET), "--format", random.choice(("scalesim", "zigzag", "timeloop")),
         "-o", "out/made"],
    ]  # fmt: skip
    return faults(random.choice(verbs))


def _arrays(random: Random, arrays: dict[str, Any]) -> bytes:
    """An ``.npz`` of ``arrays``, one of them changed, or its bytes, or its headers."""
    key = random.choice(list(arrays))
    kind = random.randrange(8)
    if kind == 0:
        del arrays[key]
    elif kind == 1:
        arrays[random.choice(("x", "conv1", "../x", "a\nb", "é"))] = arrays[key]
    elif kind == 2:
        dtypes = (bool, "i1", "u8", "f2", "f4", "f8", "c8", "U3", "S3", "O", "M8[s]", ">f4")
        with np.errstate(all="ignore"):
            try:
                arrays[key] = np.asarray(arrays[key]).astype(random.choice(dtypes))
            except (ValueError, TypeError, OverflowError):
                arrays[key] = np.array("x")
    elif kind == 3:
        shape = random.choice([(), (0,), (1,), (20, 6, 5), (20, 6, 5, 1), (3, 0), (1, 1, 1, 1)])
        arrays[key] = np.zeros(shape, np.float32)
    elif kind == 4:
        array = np.array(arrays[key])
        if array.size and array.dtype.kind in "fiu":
            value = random.choice((np.nan, np.inf, -np.inf, 1e300, 1e-300, -1, 1 << 62))
            with np.errstate(all="ignore"):
                try:
                    array.reshape(-1)[random.randrange(array.size)] = value
                except (ValueError, OverflowError):
                    array = array.astype(np.float64)
            arrays[key] = array
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", random.choice((0, 8))) as archive:
        for name, array in arrays.items():
            member = BytesIO()
            np.lib.format.write_array(member, np.asarray(array))
            written = member.getvalue()
            if kind == 5 and name == key:
                sizes = (b"(3000000000,)", b"(-1,)", b"(99999999999999999999, 9)", b"()", b"(1.5,)")
                start = written.index(b"(")
                end = written.index(b")") + 1
                said = random.choice(sizes)[: 64 + end - start]
                written = written[:start] + said + written[end:]
            elif kind == 6 and name == key:
                written = mutate.content(random, written[:128]) + written[128:]
            archive.writestr(f"{name}.npy", written)
    return mutate.content(random, stream.getvalue()) if kind == 7 else stream.getvalue()


def _data() -> dict[str, Any]:
    images = np.arange(300, dtype=np.float64).reshape(10, 6, 5) / 300
    return {"images": images, "labels": np.arange(10) % 3}


def _saved() -> dict[str, Any]:
    return {
        "step": np.int64(1), "seed": np.int64(0), "batch": np.int64(4), "network": np.array("tiny"),
        "loss": np.array([1.0]), "conv1.kernel": np.zeros((2, 1, 3, 3), np.float32),
        "conv1.bias": np.zeros(2, np.float32), "conv1.velocity": np.zeros(20, np.float32),
        "fc2.kernel": np.zeros((3, 12, 1, 1), np.float32), "fc2.bias": np.zeros(3, np.float32),
        "fc2.velocity": np.zeros(39, np.float32),
    }  # fmt: skip


def npz(random: Random) -> list[str]:
    """Images to train with, training to resume, kernels to simulate with."""
    NET.write_text(NETWORK)
    given = Path("in/given.npz")
    kind = random.randrange(3)
    if kind == 2:
        kernels = {key: _saved()[key] for key in ("conv1.kernel", "conv1.bias", "fc2.bias")}
        given.write_bytes(_arrays(random, kernels))
        with patch(SIMULATE, side_effect=ENDED):
            return faults(["simulate", str(NET), "--kernels", str(given)])
    train = ["train", str(NET), "--steps", "2", "--batch", "4", "--data"]
    if kind == 0:
        given.write_bytes(_arrays(random, _data()))
        return faults([*train, str(given), "--json"])
    with Path("in/data.npz").open("wb") as file:
        np.savez(file, **_data())
    given.write_bytes(_arrays(random, _saved()))
    return faults([*train, "in/data.npz", "--resume", str(given), "--json"])


def vectors(random: Random) -> list[str]:
    """Rows of test vectors, changed."""
    rows = []
    for _ in range(random.randrange(12)):
        digits = random.choice((8, 8, 8, 4))
        words = [f"{random.getrandbits(4 * digits):0{digits}X}" for _ in range(3)]
        rows.append(" ".join([*words, f"{random.getrandbits(5):02X}"]))
    text = "\n".join(rows) + "\n"
    if random.randrange(3):
        text = mutate.lines(random, text, random.choice(mutate.TEXTS))
    path = Path("in/vectors.txt")
    if random.randrange(4):
        path.write_text(text, errors="surrogatepass")
    else:
        path.write_bytes(mutate.content(random, text.encode("utf-8", "surrogatepass")))
    words = ["verify-float", "--op", random.choice(("add", "mul")), "--vectors", str(path)]
    if random.randrange(3) == 0:
        words += ["--format", random.choice(("binary32", "bfloat16", "binary16"))]
    return faults(words, allowed=(0, 1, 2))


def images(random: Random) -> list[str]:
    """A photograph, changed, or with a size of its own."""
    picture = Image.new(random.choice(("L", "RGB", "RGBA", "P", "1")), (9, 7), random.randrange(2))
    stream = BytesIO()
    kind = random.choice(("PNG", "BMP", "GIF", "TIFF", "PPM", "JPEG"))
    (picture.convert("RGB") if kind in ("JPEG", "PPM") else picture).save(stream, kind)
    written = stream.getvalue()
    if random.randrange(5) == 0:
        sizes = (0, 1, 8193, 60_000, (1 << 31) - 1, (1 << 32) - 1)
        head = struct.pack(">IIBBBBB", random.choice(sizes), random.choice(sizes), 8, 2, 0, 0, 0)
        checked = b"IHDR" + head
        written = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + checked
        written += struct.pack(">I", zlib.crc32(checked)) + b"\0\0\0\0IEND\xaeB`\x82"
    path = Path("in/picture")
    path.write_bytes(mutate.content(random, written) if random.randrange(8) else written)
    NET.write_text(NETWORK)
    with patch(SIMULATE, side_effect=ENDED):
        return faults(["simulate", str(NET), "--image", str(path)])


_VERBS = {
    "networks": ["--json"],
    "traffic": ["--batch", "--footing", "--state-bits", "--memory", "--strategies", "--compare",
                "--layer", "--json"],
    "simulate": ["--layer", "--phase", "--delta-at", "--state", "--group", "--cus", "--images",
                 "--image", "--kernels", "--engine", "--cu-array", "--seed", "--resume", "--json"],
    "export": ["--layer", "--all", "--phase", "--state", "--images", "--part", "--clock", "--json"],
    "registers": ["--layer", "--phase", "--state", "--delta-at", "--images", "--json"],
    "resources": ["--layer", "--phase", "--part", "--whole", "--json"],
    "calibrate": ["--layer", "--phase", "--json"],
    "report": ["--batch", "--part", "--clock", "--bandwidth", "--measured", "--json"],
    "workload": ["--format", "--batch", "--json"],
    "train": ["--data", "--engine", "--batch", "--steps", "--epochs", "--lr", "--momentum",
              "--loss", "--state-bits", "--seed", "--resume", "--json"],
    "losses": ["--json"],
    "verify-float": ["--op", "--vectors", "--engine", "--format", "--json"],
}  # fmt: skip
_SLOW = ("simulate", "export", "registers", "resources", "calibrate", "report", "train")


def options(random: Random) -> list[str]:
    """Words after a verb; those of slow verbs name no network that is there."""
    verb = random.choice(list(_VERBS))
    words = [verb]
    if verb in _SLOW:
        words.append(
            random.choice(("nothing", "in/nothing.toml", "alexnett", "", "a\nb", "x" * 300))
        )
    elif random.randrange(4):
        words.append("alexnet")
    for _ in range(random.randrange(5)):
        words.append(random.choice(_VERBS[verb]))
        if random.randrange(4):
            text = random.choice((*mutate.TEXTS, *map(str, mutate.NUMBERS)))
            words.append(text if random.randrange(3) or not text else f"--{text}")
    if random.randrange(6) == 0:
        random.shuffle(words)
    # No slow work by a lucky order, and no file but where it is named.
    words = [word for word in words if not word.startswith(("-o", "--o"))]
    if any(word in _SLOW for word in words):
        words = [
            "nothing" if word in ("alexnet", "digits", "in/net.toml") else word for word in words
        ]
    return faults([*words, "-o", "out/made"] if random.randrange(8) == 0 else words)


def runs(random: Random) -> list[str]:
    """What ``merp train -o`` left, changed, for ``losses``."""
    answer: dict[str, Any] = {
        "network": "tiny", "engine": "golden", "steps": 2, "batch": 4, "seed": 0,
        "loss": [1.0, 0.5], "accuracy": 0.5, "images": {"trained": 8, "held_out": 2},
    }  # fmt: skip
    values: tuple[Any, ...] = (
        None, True, 0, -1, 1e308, float("nan"), float("inf"), "", "$x", "a\nb", [], {}, [[]], ["x"],
        [None], {"trained": 0}, {"trained": "x"}, 10**30, "x" * 3000, [1e400, -1.0], [10**400],
    )  # fmt: skip
    for _ in range(random.randrange(3)):
        answer[random.choice(list(answer))] = random.choice(values)
    text = json.dumps(answer).encode()
    kind = random.randrange(6)
    if kind == 0:
        text = mutate.content(random, text)
    elif kind == 1:
        text = b"[" * 100_000
    folder = Path("in") / random.choice(("run", "$x", "_run", "é", "a b"))
    folder.mkdir()
    (folder / "train.json").write_bytes(text)
    found = faults(["losses", str(folder), "-o", f"out/losses{random.choice(('.svg', '.png'))}"])
    clear(folder)
    folder.rmdir()
    return found


def environment(random: Random) -> list[str]:
    """A process in surroundings that few have."""
    environment = dict(os.environ)
    for name in ("HOME", "XDG_CACHE_HOME", "MPLCONFIGDIR", "LC_ALL", "PYTHONIOENCODING", "COLUMNS",
                 "TERM", "NO_COLOR", "MERP_CACHE"):  # fmt: skip
        kind = random.randrange(4)
        if kind == 0:
            environment.pop(name, None)
        elif kind == 1:
            nasty = ("", "/dev/null/x", "C", "C.UTF-8", "xx_YY", "0", "-1", "99999", "dumb", "/")
            environment[name] = random.choice(nasty)
    environment["PYTHONIOENCODING"] = random.choice(("ascii", "latin-1", "utf-8", "utf-8:strict"))
    NET.write_text(NETWORK)
    verb = random.choice(
        [
            f"networks {NET}", "networks", f"traffic {NET}", "nothing", f"traffic {NET} --batch x",
            f"workload {NET} --format zigzag -o out/made", f"registers {NET} --layer conv1",
        ]
    )  # fmt: skip
    ends = ("", ">&-", "<&-", "<&- >&- 2>&-", "2>&-", "> /dev/full", "| head -c 1")
    limit = random.choice(("", "", "ulimit -f 0;"))
    command = f"{limit} {sys.executable} -m merp.tools.cli {verb} {random.choice(ends)}"
    done = subprocess.run(
        command, shell=True, env=environment, capture_output=True, text=True, errors="replace"
    )
    found = []
    if done.returncode not in (0, 2, 141):
        found.append(f"status {done.returncode}: {command}: {done.stderr[:600]}")
    if done.stderr.count("\n") > 1:
        found.append(f"more than one line: {command}: {done.stderr[:600]}")
    return found


KINDS: dict[str, tuple[Callable[[Random], list[str]], int]] = {
    "toml": (toml, 850),
    "npz": (npz, 400),
    "vectors": (vectors, 250),
    "images": (images, 200),
    "options": (options, 250),
    "runs": (runs, 44),
    "environment": (environment, 6),
}
"""Each kind, and how many of 2,000 cases are of it."""


def cases(count: int, seed: int) -> Iterator[tuple[str, int]]:
    """Kinds and numbers of ``count`` cases; other seeds have other numbers."""
    whole = sum(share for _, share in KINDS.values())
    for kind, (_, share) in KINDS.items():
        first = seed * 1_000_000
        yield from ((kind, first + each) for each in range(share * count // whole))


def case(kind: str, number: int) -> list[str]:
    """Run a case in the sandbox; return its faults."""
    for folder in (Path("in"), Path("out")):
        clear(folder)
    random = Random(f"{kind} {number}")
    return KINDS[kind][0](random)
