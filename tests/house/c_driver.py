"""The C driver of a package as a shared library, on any board of Python."""

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from merp.cosim.board.buffers import Buffer

STRICT = "-Wall -Wextra -Wpedantic -Werror -std=c99 -ffreestanding".split()
OK, OTHER_DESIGN, MEMORY, TIME, FAILED, NO_SETTING, NOT_WIRED, STUCK = range(8)
POLLING, INTERRUPT = range(2)

_WORD, _POINTER = ctypes.c_uint32, ctypes.c_void_p
_READ = ctypes.CFUNCTYPE(_WORD, _POINTER, _WORD)
_WRITE = ctypes.CFUNCTYPE(None, _POINTER, _WORD, _WORD)
_CACHE = ctypes.CFUNCTYPE(None, _POINTER, _WORD, _WORD)
_NOW = ctypes.CFUNCTYPE(_WORD, _POINTER)


class Merp(ctypes.Structure):
    """``struct merp`` of merp.h."""

    _fields_ = (
        ("context", _POINTER), ("read32", _READ), ("write32", _WRITE), ("flush", _CACHE),
        ("invalidate", _CACHE), ("now", _NOW), ("memory", _POINTER), ("address", _WORD),
        ("bytes", _WORD), ("came", _WORD),
    )  # fmt: skip


class Cause(ctypes.Structure):
    """``struct merp_cause`` of merp.h."""

    _fields_ = tuple(
        (name, _WORD)
        for name in ("failure", "command", "pass_", "waiting", "stream", "address", "cycles")
    )


def compiled(sources: Sequence[Path], target: Path, compiler: str = "gcc", *more: str) -> Path:
    """Compile sources without a warning."""
    command = shutil.which(compiler)
    assert command is not None
    subprocess.run([command, *STRICT, *more, *map(str, sources), "-o", str(target)], check=True)
    return target


class CDriver:
    """The driver of a package on a board.

    The processor's copy of the arena is ``arena``. Only the driver's calls of ``flush`` and
    ``invalidate`` move bytes between this copy and the memory of the board, as with a cache.

    Attributes:
        state: ``struct merp``.
        arena: the bytes of the arena, as the processor sees them.
        call: the functions of the library, without their prefix.
        clock: called for each look at the clock; returns ticks.
    """

    def __init__(
        self, folder: Path, board: Any, address: int, size: int, clock: Callable[[], int]
    ) -> None:
        library = folder / "merp.so"
        if not library.exists():
            compiled([folder / "merp.c"], library, "gcc", "-O2", "-fPIC", "-shared")
        self._library = ctypes.CDLL(str(library))
        self.board, self.clock = board, clock
        whole = np.zeros(size + 64, np.uint8)
        begin = -whole.ctypes.data % 64
        self.arena = whole[begin : begin + size]
        self.state = Merp(
            None, _READ(lambda _, offset: board.read32(offset)),
            _WRITE(lambda _, offset, value: board.write32(offset, value)),
            _CACHE(lambda _, *part: self._flush(*part)),
            _CACHE(lambda _, *part: self._invalidate(*part)), _NOW(lambda _: self.clock()),
            self.arena.ctypes.data, address, size, 0,
        )  # fmt: skip

    def _flush(self, offset: int, size: int) -> None:
        place = Buffer(self.state.address + offset, size)
        self.board.to_device(place, self.arena[offset : offset + size])

    def _invalidate(self, offset: int, size: int) -> None:
        place = Buffer(self.state.address + offset, size)
        self.arena[offset : offset + size] = self.board.from_device(place, np.uint8, (size,))

    def call(self, name: str, *arguments: Any) -> int:
        """Call a function of the driver on the board."""
        function = getattr(self._library, f"merp_{name}")
        return int(function(ctypes.byref(self.state), *arguments))

    def cause(self, number: int) -> Cause:
        """Return the cause of the end of a list."""
        cause = Cause()
        self._library.merp_cause(ctypes.byref(self.state), number, ctypes.byref(cause))
        return cause

    def name(self, kind: str, number: int) -> str:
        """Return the name of a failure or of a stream."""
        function = getattr(self._library, f"merp_{kind}_name")
        function.restype = ctypes.c_char_p
        return str(function(_WORD(number)).decode())
