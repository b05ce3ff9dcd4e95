"""Labelled images from every kind of source: the same numbers, or one line."""

import gzip
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from merp.models.base.errors import BadInput
from merp.models.base.notice import Notice
from merp.models.network.network import Network
from merp.models.network.network_file import read_network
from merp.tools.train.data import image_words, split
from merp.tools.train.datasets.data import Data, checked, fitted
from merp.tools.train.datasets.labelled import labelled
from network_text import layer, network_text

BYTES = np.random.default_rng(0).integers(0, 256, (12, 5, 4, 3), dtype=np.uint8)
LABELS = np.arange(12) % 2


def network(folder: Path, channels: int = 3, **keys: str) -> Network:
    path = folder / "net.toml"
    path.write_text(network_text("net", (5, 4, channels), layer("fc", 2, relu=False), **keys))
    return read_network(path)


def idx(path: Path, array: Any, kind: int = 8) -> Path:
    sizes = np.array(array.shape, ">u4").tobytes()
    content = bytes([0, 0, kind, array.ndim]) + sizes + array.astype(np.uint8).tobytes()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def mnist(folder: Path, head: str = "train", tail: str = "") -> Path:
    idx(folder / f"{head}-labels-idx1-ubyte{tail}", LABELS)
    return idx(folder / f"{head}-images-idx3-ubyte{tail}", BYTES[..., 0])


def saved(folder: Path, **arrays: Any) -> Path:
    np.savez(folder / "data.npz", **arrays)
    return folder / "data.npz"


def csv(folder: Path, header: str = "") -> Path:
    rows = np.column_stack([LABELS, BYTES[..., 0].reshape(12, -1)])
    np.savetxt(folder / "data.csv", rows, "%d", ",", header=header, comments="")
    return folder / "data.csv"


def pictures(folder: Path) -> Path:
    for place, (pixels, label) in enumerate(zip(BYTES, LABELS, strict=True)):
        (folder / "set" / "ab"[label]).mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(folder / "set" / "ab"[label] / f"{place:02}.png")
    (folder / "set" / "a" / ".hidden").write_text("")
    return folder / "set"


def in_bytes(data: Data) -> Any:
    return np.rint(data.numbers(slice(None)) * (255 if data.divisor == 255 else 1))


@pytest.mark.parametrize("keys", ["images labels", "x y", "X y", "x_train y_train"])
@pytest.mark.filterwarnings("ignore::merp.models.base.notice.Notice")
def test_usual_keys_of_arrays(tmp_path: Path, keys: str) -> None:
    images, labels = keys.split()
    path = saved(tmp_path, **{images: BYTES, labels: LABELS[:, np.newaxis]})
    found = labelled(str(path), network(tmp_path))
    np.testing.assert_array_equal(found.images, BYTES)
    np.testing.assert_array_equal(found.labels, LABELS)
    assert found.images.dtype == np.uint8  # an eighth of binary64
    assert found.where == f"{path}: {images}"


@pytest.mark.filterwarnings("ignore::merp.models.base.notice.Notice")
def test_test_images_validate_if_nothing_else_does(tmp_path: Path) -> None:
    net = network(tmp_path)
    parts = {"x_train": BYTES[:8], "y_train": LABELS[:8], "x_test": BYTES[8:], "y_test": LABELS[8:]}
    path = str(saved(tmp_path, **parts))
    found = split(labelled(path, net), net)
    assert (len(found.images), len(found.held_images)) == (8, 4)
    np.testing.assert_array_equal(found.held_labels, LABELS[8:])
    np.testing.assert_array_equal(labelled(path, net, "validation").images, BYTES[8:])
    other = checked("other", BYTES[:3], LABELS[:3])
    assert len(split(labelled(path, net), net, fitted(other, net)).held_labels) == 3


def test_channels_first_and_rows_of_numbers_are_found_with_a_notice(tmp_path: Path) -> None:
    net, numbers = network(tmp_path), BYTES / 255
    with pytest.warns(Notice, match=r"\(3, 5, 4\): channels come first, taken as \(5, 4, 3\)"):
        first = fitted(checked("x", np.moveaxis(numbers, -1, 1), LABELS), net)
    np.testing.assert_array_equal(first.images, numbers)
    with pytest.warns(Notice, match=r"60 numbers each, taken as \(5, 4, 3\)"):
        flat = fitted(checked("x", numbers.reshape(12, -1), LABELS), net)
    np.testing.assert_array_equal(flat.images, numbers)
    with pytest.raises(BadInput, match=r"x: images: size \(4, 5, 3\): net takes \(5, 4, 3\)"):
        fitted(checked("x", numbers.reshape(12, 4, 5, 3), LABELS), net)


def test_equal_sizes_are_channels_last(tmp_path: Path) -> None:
    path = tmp_path / "net.toml"
    path.write_text(network_text("net", (3, 3, 3), layer("fc", 2, relu=False)))
    numbers = np.random.default_rng(1).random((5, 3, 3, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fitted(checked("x", numbers, LABELS[:5]), read_network(path))
    np.testing.assert_array_equal(found.images, numbers)


@pytest.mark.parametrize("tail", ["", ".gz"])
def test_files_of_mnist(tmp_path: Path, tail: str) -> None:
    net = network(tmp_path, 1)
    file = mnist(tmp_path, tail=tail)
    alone = labelled(str(file), net)
    mnist(tmp_path, "t10k")
    both = labelled(str(tmp_path), net)
    for found in (alone, both, both.held):
        assert found is not None
        np.testing.assert_array_equal(found.numbers(slice(None)), BYTES[..., :1] / 255)
        np.testing.assert_array_equal(found.labels, LABELS)


def test_pictures_by_class(tmp_path: Path) -> None:
    net, folder = network(tmp_path), pictures(tmp_path)
    found = labelled(str(folder), net)
    order = np.argsort(LABELS, kind="stable")
    np.testing.assert_array_equal(in_bytes(found), BYTES[order])
    np.testing.assert_array_equal(found.labels, LABELS[order])
    assert found.classes == ("a", "b")
    (folder / "b").rename(folder / "c")
    with pytest.raises(BadInput, match="class b: only in one of"):
        split(found, net, labelled(str(folder), net))


def test_pictures_for_training_and_for_validation(tmp_path: Path) -> None:
    net, whole = network(tmp_path), tmp_path / "whole"
    whole.mkdir()
    for name in ("Train", "val"):
        pictures(tmp_path).rename(whole / name)
    (whole / "val" / "b" / "01.png").unlink(missing_ok=True)
    (whole / "readme.txt").write_text("pictures")
    found = labelled(str(whole), net)
    assert found.held is not None
    assert found.classes == found.held.classes == ("a", "b")
    order = np.argsort(LABELS, kind="stable")
    np.testing.assert_array_equal(in_bytes(found), BYTES[order])
    assert found.held.source == str(whole / "val")
    (whole / "val" / "b").rename(whole / "val" / "c")
    with pytest.raises(BadInput, match=r"val: classes a, c: allowed are those of .*Train, a, b"):
        labelled(str(whole), net)
    (whole / "val").rename(whole / "test")
    pictures(tmp_path).rename(whole / "valid")
    with pytest.raises(BadInput, match="folders Train, test, valid: allowed are train and one of"):
        labelled(str(whole), net)


def test_classes_may_be_called_train_and_test(tmp_path: Path) -> None:
    net, folder = network(tmp_path), pictures(tmp_path)
    (folder / "a").rename(folder / "test")
    (folder / "b").rename(folder / "train")
    assert labelled(str(folder), net).classes == ("test", "train")


@pytest.mark.filterwarnings("ignore::merp.models.base.notice.Notice")
def test_lines_of_numbers(tmp_path: Path) -> None:
    net = network(tmp_path, 1)
    for header in ("", "label," + ",".join(f"p{each}" for each in range(20))):
        found = labelled(str(csv(tmp_path, header)), net)
        np.testing.assert_array_equal(found.images, BYTES[..., :1])
        np.testing.assert_array_equal(found.labels, LABELS)
        assert found.images.dtype == np.uint8
    (tmp_path / "data.csv").write_text("a,b,Target\n0.5,1e-3,1\n\n-2,3,0\n")
    path = tmp_path / "net.toml"
    path.write_text(network_text("net", (1, 2, 1), layer("fc", 2, relu=False)))
    found = labelled(str(tmp_path / "data.csv"), read_network(path))
    np.testing.assert_array_equal(found.images.reshape(2, 2), [[0.5, 1e-3], [-2, 3]])
    np.testing.assert_array_equal(found.labels, [1, 0])


def test_whole_numbers_are_kept_or_refused(tmp_path: Path) -> None:
    for fmt, kept, lost in (("bfloat16", 256, 257), ("fixed16", 7, 8)):
        more = {"format": fmt}
        designs = {"own": {"architecture": "mac-array", "pox": 4, "poy": 4, "pof": 4}}
        text = network_text("net", (5, 4, 3), layer("fc", 2, relu=False), **more) if (
            fmt == "bfloat16"
        ) else network_text(
            "net", (5, 4, 3), layer("fc", 2, relu=False, design="own"), designs=designs, **more
        )  # fmt: skip
        (tmp_path / "net.toml").write_text(text)
        net = read_network(tmp_path / "net.toml")
        images = np.full((600, 5, 4, 3), kept)
        data = fitted(checked("x", images, np.zeros(600, int)), net)
        whole = image_words(data, net)
        floats = image_words(fitted(checked("x", images * 1.0, data.labels), net), net)
        np.testing.assert_array_equal(whole, floats)
        images[599, 4, 3, 2] = lost
        with pytest.raises(BadInput, match=rf"x: images\[599, 4, 3, 2\] = {lost}.*: allowed are"):
            image_words(data, net)


Broken = Callable[[Path], Path]


def text(content: str) -> Broken:
    def made(folder: Path) -> Path:
        (folder / "data.csv").write_text(content, encoding="latin-1")
        return folder / "data.csv"

    return made


def damaged(tail: str, change: Callable[[bytes], bytes]) -> Broken:
    def made(folder: Path) -> Path:
        path = mnist(folder, tail=tail)
        path.write_bytes(change(path.read_bytes()))
        return path

    return made


def no_labels(folder: Path) -> Path:
    path = mnist(folder)
    (folder / "train-labels-idx1-ubyte").unlink()
    return path


def picture(mode: str, size: tuple[int, int]) -> Broken:
    def made(folder: Path) -> Path:
        (folder / "set" / "a").mkdir(parents=True)
        Image.new(mode, size).save(folder / "set" / "a" / "one.png")
        return folder / "set"

    return made


def no_picture(folder: Path) -> Path:
    (folder / "set" / "a").mkdir(parents=True)
    (folder / "set" / "a" / "one.png").write_text("no picture")
    return folder / "set"


HOSTILE: dict[str, Broken] = {
    "data.csv: no line": text(""),
    "data.csv: no line below the header": text("label,a\n"),
    "data.csv: 0 columns of labels: allowed is one that is called label or": text("a,b\n1,2\n"),
    "data.csv: line 3: allowed are 2 numbers with commas": text("1,2\n1,2\n1\n"),
    "data.csv: line 2: allowed are 2 numbers": text("1,2\n1,x\n"),
    "data.csv: cannot be read: allowed is text in UTF-8": text("1,2\n\xff\n"),
    "data.csv: labels[0] = 0.5: allowed are whole numbers": text("0.5" + ",1" * 20),
    "data.csv: images: size (1,): net takes (5, 4, 1)": text("1,2\n"),
    "train-images-idx3-ubyte: no labels beside it: allowed is train-labels-idx1": no_labels,
    "idx3-ubyte: 239 bytes: its header declares 240 bytes": damaged("", lambda b: b[:-1]),
    "idx3-ubyte: more: its header declares 240": damaged("", lambda b: b + b"\0"),
    "idx3-ubyte: not IDX of bytes in 3 dimensions": damaged("", lambda b: b[:9]),
    "idx3-ubyte: size (4294967295, 5, 4): allowed are at most": damaged(
        "", lambda b: b[:4] + b"\xff" * 4 + b[8:]
    ),
    "idx3-ubyte.gz: cannot be read: its gzip data are damaged": damaged(".gz", lambda b: b[:-20]),
    "idx3-ubyte.gz: size (67108864, 5, 4): allowed are at most 67,108,864": damaged(
        ".gz", lambda b: gzip.compress(bytes([0, 0, 8, 3, 4, *b"\0\0\0", *b"\0\0\0\5\0\0\0\4"]))
    ),
    "set/a/one.png: 4 x 5 pixels (rows x columns): allowed are 5 x 4": picture("L", (5, 4)),
    "set/a/one.png: more than 8 bits a channel": picture("I;16", (4, 5)),
    "set/a/one.png: not a readable image": no_picture,
}


@pytest.mark.parametrize("said", HOSTILE)
def test_hostile_sources_are_one_line(tmp_path: Path, said: str) -> None:
    with pytest.raises(BadInput) as refusal:
        labelled(str(HOSTILE[said](tmp_path)), network(tmp_path, 1))
    assert said in str(refusal.value)
