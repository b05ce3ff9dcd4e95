"""Damage arrays in ``.npz`` files: images to train with, kernels to simulate with."""

import zipfile
from functools import cache
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import mutate
from harness import expect_good, faults, nothing_simulated
from kinds.networks import NET, NETWORK


def changed_arrays(random: Random, arrays: dict[str, Any]) -> bytes:
    """Return an ``.npz`` of ``arrays`` with one array, its bytes or its headers changed."""
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


def data() -> dict[str, Any]:
    """Return labelled images for the network."""
    images = np.arange(300, dtype=np.float64).reshape(10, 6, 5) / 300
    return {"images": images, "labels": np.arange(10) % 3}


@cache
def compiled() -> None:
    """Train once on good images, so that no case includes numba's compilation."""
    NET.write_text(NETWORK)
    with Path("in/good.npz").open("wb") as file:
        np.savez(file, **data())
    words = ["train", str(NET), "--steps", "2", "--batch", "4", "--data", "in/good.npz", "--json"]
    expect_good(words)


def npz(random: Random) -> list[str]:
    """Try images to train and evaluate with, kernels to simulate and predict with."""
    compiled()
    NET.write_text(NETWORK)
    given = Path("in/given.npz")
    kernels = {
        "conv1.kernel": np.zeros((2, 1, 3, 3), np.float32),
        "conv1.bias": np.zeros(2, np.float32),
        "fc2.bias": np.zeros(3, np.float32),
    }
    if random.randrange(3):
        given.write_bytes(changed_arrays(random, data()))
        if not random.randrange(4):
            np.savez("in/kernels.npz", **kernels)
            weights = ["--weights", "in/kernels.npz"]
            return faults(["evaluate", str(NET), "--data", str(given), *weights, "--json"])
        words = ["train", str(NET), "--steps", "2", "--batch", "4", "--data", str(given)]
        return faults([*words, "--json"])
    given.write_bytes(changed_arrays(random, kernels))
    if random.randrange(2):
        np.save("in/x.npy", data()["images"])
        words = ["predict", str(NET), "--input", "in/x.npy", "--weights", str(given)]
        return faults([*words, "--json"])
    with nothing_simulated():
        return faults(["simulate", str(NET), "--kernels", str(given)])
