"""Files of arrays that lie about themselves are refused before anything is allocated."""

import os
import tracemalloc
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.lib import format as npy

from merp.models.base.errors import BadInput
from merp.tools.common.npz import MEMBERS, SMALL, read_npz


def member(shape: Any, descr: Any = "<f4", content: bytes = b"", order: bool = False) -> bytes:
    stream = BytesIO()
    npy.write_array_header_1_0(
        stream, {"descr": descr, "fortran_order": order, "shape": shape}
    )  # fmt: skip
    return stream.getvalue() + content


def archive(path: Path, members: dict[str, bytes], packed: bool = False) -> Path:
    kind = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", kind) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def test_arrays_come_back_as_they_were_saved(tmp_path: Path) -> None:
    arrays = {
        "a": np.arange(6, dtype=">f8").reshape(2, 3), "b": np.asfortranarray(np.eye(3, 2)),
        "c": np.array("text"), "d": np.array(7), "e": np.zeros((0, 3), np.uint8),
        "f": np.array([True, False]),
    }  # fmt: skip
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "a.npz", **arrays)
        found = read_npz(tmp_path / "a.npz")
        assert list(found) == list(arrays)
        for key, array in arrays.items():
            assert found[key].dtype == array.dtype
            assert np.array_equal(found[key], array)


HUGE = 3_000_000_000
LIES = {
    "a header of 3e9 floats": (member((HUGE,)), "a: size (3000000000,): allowed are at most"),
    "of 1e30 floats": (member((10**15, 10**15)), "allowed are at most 536,870,912 elements"),
    "of more digits than Python shows": (member((10**4000,)), "allowed"),
    "more than there is": (member((1000,)), "a: 0 bytes: allowed are 4,000"),
    "less than there is": (member((1,), "<f4", b"12345678"), "a: 8 bytes: allowed are 4"),
    "a negative size": (member((-1, 3)), "a: size (-1, 3): allowed"),
    "3e9 texts of nothing": (member((HUGE,), "<U0"), "allowed are at most 4,194,304 elements"),
    "one long text": (member((), "<U2000000"), "allowed are at most 0 elements"),
    "objects": (member((1,), "|O", b"x"), "a: type '|O': allowed are numbers of up to 8 bytes"),
    "complex": (member((1,), "<c8", b"12345678"), "a: type '<c8': allowed are numbers"),
    "a structure": (member((1,), [("x", "<f4")], b"1234"), "a: type '|V4': allowed are numbers"),
    "no header": (b"no array", "cannot be read: allowed is an .npz file of arrays"),
    "nonsense": (b"\x93NUMPY\x01\x00\x05\x00((((\n", "cannot be read: allowed is an .npz file"),
    "deep nonsense": (b"\x93NUMPY\x01\x00\x10\x27" + b"(" * 9999 + b"\n", "cannot be read"),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("lie", LIES)
def test_a_member_that_lies(lie: str, packed: bool, tmp_path: Path) -> None:
    content, said = LIES[lie]
    path = archive(tmp_path / "a.npz", {"a.npy": content}, packed)
    tracemalloc.start()
    try:
        with pytest.raises(BadInput) as error:
            read_npz(path)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
    assert str(error.value).startswith(f"{path}: ")
    assert said in str(error.value)


def test_a_file_that_unpacks_to_much_more(tmp_path: Path) -> None:
    content = member((SMALL,), "|u1", bytes(SMALL))
    path = archive(tmp_path / "a.npz", {"a.npy": content}, packed=True)
    with pytest.raises(BadInput, match=r"unpacks to 67,108,992 bytes: allowed are at most 67,108,"):
        read_npz(path)


@pytest.mark.usefixtures("impatient")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.npz")
    with pytest.raises(BadInput, match=r"x\.npz: cannot be read: no regular file"):
        read_npz(tmp_path / "x.npz")


def test_too_many_members(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.npz", {f"{index}.npy": b"" for index in range(MEMBERS + 1)})
    with pytest.raises(BadInput, match=r"32,769 members: allowed are at most 32,768"):
        read_npz(path)


def test_two_members_of_one_name(tmp_path: Path) -> None:
    one = member((1,), "<f4", b"1234")
    path = archive(tmp_path / "a.npz", {"a": one, "a.npy": one})
    with pytest.raises(BadInput, match="cannot be read: allowed is an"):
        read_npz(path)


def test_every_byte_cut_off_and_every_byte_changed(tmp_path: Path) -> None:
    """Nothing but BadInput, whatever the decoders say."""
    path = tmp_path / "a.npz"
    np.savez_compressed(path, a=np.arange(5), b=np.array("text"))
    content = path.read_bytes()
    broken = [content[:cut] for cut in range(0, len(content), 7)]
    for place in range(len(content)):
        for value in (0, content[place] ^ 1):
            broken.append(content[:place] + bytes([value]) + content[place + 1 :])
    refused = 0
    for each in broken:
        path.write_bytes(each)
        try:
            read_npz(path)
        except BadInput:
            refused += 1
    assert refused > len(broken) / 3
