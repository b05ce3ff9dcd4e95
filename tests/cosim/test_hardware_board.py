"""Drivers of real boards, on files and objects that stand for the hardware."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from device_files import device_files
from fake_accelerator import FakeAccelerator
from forward_board import small_system

from merp.cosim.board import hardware
from merp.cosim.board.hardware import Access, HardwareBoard, opened
from merp.cosim.board.lists import Bytes
from merp.cosim.board.litex_device import LiteXAccess, LiteXDevice
from merp.cosim.board.pynq_device import PynqAccess, PynqDevice
from merp.cosim.board.system import System
from merp.cosim.board.uio import UioAccess, UioDevice
from merp.models.base.errors import BadInput, CheckFailed

SIZE, ADDRESS = 1 << 16, 0x1F40_0000


@pytest.fixture(scope="module")
def system() -> System:
    return small_system()


class Ram:
    """An arena that a cache hides: the accelerator sees stored bytes only."""

    name, address, size = "arena", ADDRESS, SIZE

    def __init__(self) -> None:
        self.memory = np.zeros(SIZE, np.uint8)
        self.interrupts = 0
        self.read32: Callable[[int], int]
        self.write32: Callable[[int, int], None]

    def load(self, offset: int, size: int) -> Bytes:
        """Return bytes."""
        return self.memory[offset : offset + size].copy()

    def store(self, offset: int, data: Bytes) -> None:
        """Write bytes."""
        self.memory[offset : offset + data.size] = data

    def interrupted(self, seconds: float) -> bool:
        """Return whether an interrupt came."""
        came, self.interrupts = self.interrupts > 0, 0
        return came

    def rise(self) -> None:
        """Interrupt."""
        self.interrupts += 1


def with_accelerator(access: Any, system: System, wired: Callable[[], object]) -> FakeAccelerator:
    """Put an accelerator behind registers that ``access`` lets us replace."""
    fake = FakeAccelerator(system, lambda at, size: access.load(at - access.address, size), wired)
    access.read32, access.write32 = fake.read32, fake.write32
    return fake


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits end at once."""
    monkeypatch.setattr(hardware, "SPARE_SECONDS", 0.01)


@pytest.mark.usefixtures("quick")
def test_a_board_opens_with_all_of_its_memory_free(system: System) -> None:
    access = Ram()
    fake = with_accelerator(access, system, access.rise)
    board = opened(access, system)
    assert board.monitor is None
    assert board.end == ADDRESS + SIZE
    assert board.alloc(SIZE).address == ADDRESS
    assert ("control", 2) in fake.writes  # an old list ends first


@pytest.mark.usefixtures("quick")
def test_another_accelerator_and_another_engine_are_told(system: System) -> None:
    access = Ram()
    fake = with_accelerator(access, system, access.rise)
    fake.put(configuration=1)
    with pytest.raises(CheckFailed, match=r"^self-test: configuration is 0x00000001, not 0x\w+$"):
        opened(access, system)
    assert fake.writes == []  # nothing is written to unknown registers
    engine = system.engines[0]
    rows = [
        replace(each, reset=each.reset ^ (each.name == "configuration"))
        for each in engine.registers.registers
    ]
    registers = replace(engine.registers, registers=tuple(rows))
    other = replace(system, engines=(replace(engine, registers=registers),))
    with_accelerator(access, system, access.rise)
    wanted = registers["configuration"].reset
    said = rf"^self-test: engine engine: configuration is not {wanted:#010x}$"
    with pytest.raises(CheckFailed, match=said):
        opened(access, other)


@pytest.mark.usefixtures("quick")
def test_an_interrupt_that_is_not_connected_is_told(system: System) -> None:
    access = Ram()
    with_accelerator(access, system, lambda: None)
    with pytest.raises(BadInput, match=r"^arena: self-test: .* allowed is interrupt = False$"):
        opened(access, system)


@pytest.mark.usefixtures("quick")
def test_another_bitstream_keeps_buffers_and_memory(system: System) -> None:
    access = Ram()
    with_accelerator(access, system, access.rise)
    board = opened(access, system)
    first = board.alloc(64)
    board.to_device(first, np.arange(64, dtype=np.uint8))
    rows = [
        replace(each, reset=each.reset ^ (each.name == "configuration"))
        for each in system.host.registers
    ]
    other = replace(system, host=replace(system.host, registers=tuple(rows)))
    with pytest.raises(CheckFailed, match=r"^self-test: configuration is 0x\w+, not 0x\w+$"):
        board.change(other)
    fake = with_accelerator(access, other, access.rise)
    board.change(other)
    assert fake.writes == [("control", 2)]
    assert board.alloc(64).address >= first.address + 64
    assert np.array_equal(board.from_device(first, np.uint8, 64), np.arange(64))


def test_a_device_without_a_way_to_load_is_refused(system: System, tmp_path: Path) -> None:
    said = r"^step = '.*step\.json': load is missing: allowed is a function of a name$"
    for device in (
        UioDevice(step=tmp_path / "step.json"), PynqDevice("ip", step=tmp_path / "step.json"),
    ):  # fmt: skip
        with pytest.raises(BadInput, match=said):
            device.open(system)


@pytest.mark.usefixtures("quick")
def test_a_wait_and_a_reset_have_a_limit(system: System) -> None:
    access = Ram()
    fake = with_accelerator(access, system, access.rise)
    board = HardwareBoard(access, system)
    access.rise()  # of an earlier list, which nobody has waited for
    with pytest.raises(TimeoutError, match=r"^wait: no interrupt for 0\.0 seconds; status is 0x0$"):
        board.wait(1000)
    access.write32 = lambda offset, value: None
    fake.put(status=9)
    with pytest.raises(TimeoutError, match=r"^reset: the list does not end; status is 0x9$"):
        board.reset()


def test_an_arena_that_the_accelerator_cannot_address_is_refused(system: System) -> None:
    access = Ram()
    access.address = (1 << 32) - SIZE + 64
    with pytest.raises(
        BadInput, match=r"^arena: ends at 0x100000040: allowed is up to 0x100000000"
    ):
        HardwareBoard(access, system)


def test_an_arena_that_is_too_small_names_itself(system: System) -> None:
    access = Ram()
    with_accelerator(access, system, access.rise)
    board = HardwareBoard(access, system)
    with pytest.raises(BadInput, match=rf"^arena: alloc: size {SIZE + 1}: memory has {SIZE} of "):
        board.alloc(SIZE + 1)


def check_memory(access: Access, memory: Callable[[], Bytes], sizes: tuple[int, ...]) -> None:
    """Check that bytes of an arena get to memory and back, and no other byte changes."""
    random = np.random.default_rng(1)
    wanted = memory().copy()
    for size in sizes:
        for offset in (0, 64, 4096 + 3):
            data = random.integers(0, 256, size, np.uint8)
            access.store(offset, data)
            wanted[offset : offset + size] = data
            np.testing.assert_array_equal(memory(), wanted)
            np.testing.assert_array_equal(access.load(offset, size), data)


# UIO and u-dma-buf.


@pytest.fixture
def files(tmp_path: Path) -> UioDevice:
    """The device files, as regular files."""
    return device_files(tmp_path, ADDRESS, SIZE)


def test_uio_maps_registers_and_the_buffer(files: UioDevice) -> None:
    access = UioAccess(files)
    access.write32(0x20, 0xDEADBEEF)
    data = Path(files.registers).read_bytes()
    assert data[0x20:0x24] == bytes.fromhex("efbeadde")
    assert not any(data[:0x20] + data[0x24:])
    assert access.read32(0x20) == 0xDEADBEEF
    assert (access.address, access.size, access.name) == (ADDRESS, SIZE, files.memory)
    check_memory(access, lambda: np.fromfile(files.memory, np.uint8), (1, 100))


HOLDER = """
import sys
from merp.cosim.board.pynq_device import PynqDevice
from merp.cosim.board.uio import UioAccess, UioDevice
held = UioAccess(UioDevice(*sys.argv[1:3], False, sys.argv[3]))
print("held", flush=True)
sys.stdin.read()
"""


def test_uio_refuses_a_board_of_another_process(files: UioDevice) -> None:
    command = [sys.executable, "-c", HOLDER, files.registers, files.memory, files.buffers]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(BadInput, match="uio0: another process uses the board: allowed is one"):
            UioAccess(files)
        holder.communicate()
    first = UioAccess(files)
    assert UioAccess(files).size == first.size  # of the same process


def test_uio_brings_cache_and_memory_together_in_the_part_that_moves(files: UioDevice) -> None:
    access, folder = UioAccess(files), Path(files.buffers) / "udmabuf0"

    def told() -> dict[str, str]:
        found = {path.name: path.read_text().strip() for path in folder.glob("sync_*")}
        for path in folder.glob("sync_*"):
            path.unlink()
        return found

    access.store(64, np.ones(100, np.uint8))
    assert told() == {"sync_offset": "64", "sync_size": "100", "sync_for_device": "1"}
    access.load(128, 5)
    assert told() == {"sync_offset": "128", "sync_size": "5", "sync_for_cpu": "1"}


def test_uio_enables_the_interrupt_before_it_waits(files: UioDevice) -> None:
    access = UioAccess(replace(files, interrupt=True))
    kernel, driver = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with kernel, driver:
        access._file = driver
        assert not access.interrupted(0.001)
        assert kernel.recv(100) == bytes([1, 0, 0, 0])
        kernel.send(bytes([5, 0, 0, 0]))
        assert access.interrupted(1)
        assert kernel.recv(100) == bytes([1, 0, 0, 0])
        assert not access.interrupted(0.001)  # each interrupt counts once


def test_a_wrong_device_file_is_one_line(files: UioDevice, tmp_path: Path) -> None:
    for changed, said in (
        ({"registers": "/dev/none"}, r"/dev/none: No such file or directory: allowed is a device "
         r"file of 4096 bytes"),
        ({"memory": "/dev/none"}, rf"{files.buffers}/none/phys_addr: No such file or directory: "
         r"allowed is a buffer of the kernel module u-dma-buf"),
    ):  # fmt: skip
        with pytest.raises(BadInput, match=f"^{said}$"):
            UioAccess(replace(files, **changed))
    os.truncate(files.memory, SIZE - 1)
    with pytest.raises(BadInput, match=rf"^{files.memory}: mmap length is greater than file size"):
        UioAccess(files)
    (Path(files.buffers) / "udmabuf0" / "size").write_text("big\n")
    with pytest.raises(BadInput, match=r"udmabuf0/size: invalid literal .*: allowed is a buffer"):
        UioAccess(files)


# PYNQ.


class FakeBuffer(np.ndarray[Any, Any]):
    """A buffer that keeps what was flushed, as ``PynqBuffer`` on a board."""

    def __array_finalize__(self, other: Any) -> None:
        self.whole = getattr(other, "whole", None)

    def _place(self) -> slice:
        begin = self.ctypes.data - self.whole[0].ctypes.data
        return slice(begin, begin + self.nbytes)

    def flush(self) -> None:
        """Write the cache back."""
        self.whole[1][self._place()] = self

    def invalidate(self) -> None:
        """Drop the cache."""
        self[:] = self.whole[1][self._place()]


def fake_pynq(monkeypatch: pytest.MonkeyPatch, most: int) -> Bytes:
    """Let ``import pynq`` find a module with memory; return this memory."""
    memory = np.zeros(most, np.uint8)

    def allocate(shape: tuple[int, ...], dtype: str) -> Any:
        if shape[0] > most:
            raise RuntimeError("Failed to allocate Memory!")
        buffer = np.zeros(shape, dtype).view(FakeBuffer)
        buffer.whole = buffer, memory
        buffer.device_address = ADDRESS
        return buffer

    monkeypatch.setitem(sys.modules, "pynq", SimpleNamespace(allocate=allocate))
    return memory


def test_pynq_moves_bytes_past_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = fake_pynq(monkeypatch, SIZE)
    words: dict[int, int] = {}
    ip = SimpleNamespace(read=words.__getitem__, write=words.__setitem__)
    access = PynqAccess(PynqDevice(ip, SIZE))
    access.write32(8, 5)
    assert (words, access.read32(8)) == ({8: 5}, 5)
    assert access.address == ADDRESS
    check_memory(access, lambda: memory, (1, 100))
    memory[:4] = 7
    assert access.load(0, 4).tolist() == [7] * 4
    assert access.interrupted(0)


def test_pynq_that_is_missing_or_full_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_pynq(monkeypatch, SIZE)
    with pytest.raises(BadInput, match=rf"^pynq\.allocate: size {SIZE + 1}: Failed to allocate "):
        PynqAccess(PynqDevice(None, SIZE + 1))
    monkeypatch.setitem(sys.modules, "pynq", None)
    with pytest.raises(BadInput, match=r"^pynq is not installed: allowed is a PYNQ image$"):
        PynqAccess(PynqDevice(None))


# LiteX.


class Bridge:
    """A client whose memory is behind a write-back cache that has one place for each address."""

    def __init__(self, cache: int) -> None:
        self.words = np.zeros(SIZE, np.uint32)
        self.cache: dict[int, tuple[int, int]] = {}
        self.lines, self.longest = cache // 4, 0

    def _line(self, index: int) -> int:
        """Return a word by the cache, which first gives back the word of another address."""
        at = index % self.lines
        if at not in self.cache or self.cache[at][0] != index:
            if at in self.cache:
                old, word = self.cache[at]
                self.words[old] = word
            self.cache[at] = index, int(self.words[index])
        return self.cache[at][1]

    def read(self, address: int, length: int | None = None) -> Any:
        """Return a word, or a list of words."""
        first = (address - 0x4000_0000) // 4
        if length is None:
            return self._line(first) if self.lines else int(self.words[first])
        self.longest = max(self.longest, length)
        return [self.read(address + 4 * each) for each in range(length)]

    def write(self, address: int, data: Any) -> None:
        """Write a word, or a list of words."""
        words = data if isinstance(data, list) else [data]
        self.longest = max(self.longest, len(words))
        for index, word in enumerate(words, (address - 0x4000_0000) // 4):
            if self.lines:
                self._line(index)
                self.cache[index % self.lines] = index, word
            else:
                self.words[index] = word


@pytest.mark.parametrize("cache", [0, 256])
def test_litex_moves_bytes_past_the_cache(cache: int) -> None:
    bridge = Bridge(cache)
    device = LiteXDevice(bridge, 0x4002_0000, 0x4000_1000, 1 << 14, 0x1000, cache)
    access = LiteXAccess(device)
    access.write32(8, 5)
    assert access.read32(8) == 5
    view = bridge.words.view(np.uint8)
    check_memory(access, lambda: view[0x1000 : 0x1000 + access.size], (1, 2, 9, 1500))
    view[0x1000:0x1004] = 7
    assert access.load(0, 4).tolist() == [7] * 4
    assert bridge.longest == 255
    assert access.interrupted(0)
