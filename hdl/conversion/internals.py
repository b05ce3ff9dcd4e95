"""Everything of MyHDL that is private and needed: no other module names it.

MyHDL has no interface for what stands here, so another version may mean something else by any of
these names. ``VERSION`` is the one that they were read in; ``check_version`` refuses all others.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import myhdl

from merp.hdl.conversion.errors import ExportError

VERSION = "0.11.52"


def check_version() -> None:
    """Refuse to convert with a MyHDL whose private names may mean something else.

    Raises:
        ExportError: the version found, and the one that is allowed.
    """
    if myhdl.__version__ != VERSION:
        raise ExportError(f"MyHDL {myhdl.__version__} is installed: allowed is {VERSION}")


try:
    import myhdl._block as _block
    import myhdl._instance as _instance
    from myhdl import _extractHierarchy, _simulator, _util
    from myhdl import _intbv as vectors
    from myhdl._always import _Always as Always
    from myhdl._always_comb import _AlwaysComb as AlwaysComb
    from myhdl._block import _Block as Block
    from myhdl._block import _CallInfo as CallInfo
    from myhdl._block import _uniqueify_name as unique_block_name
    from myhdl._block import block_decorator as BlockDecorator
    from myhdl._getHierarchy import _getHierarchy
    from myhdl._instance import _Instantiator as Instantiator
    from myhdl._resolverefs import _AttrRefTransformer as AttributeResolver
    from myhdl._ShadowSignal import ConcatSignal
    from myhdl._ShadowSignal import _ShadowSignal as ShadowSignal
    from myhdl._ShadowSignal import _SliceSignal as SliceSignal
    from myhdl._ShadowSignal import _TristateDriver as TristateDriver
    from myhdl._ShadowSignal import _TristateSignal as TristateSignal
    from myhdl._Signal import Constant
    from myhdl._Signal import _isListOfSigs as is_list_of_signals
    from myhdl._Signal import _Signal as AnySignal
    from myhdl._Waiter import _SignalTupleWaiter as SignalTupleWaiter
    from myhdl.conversion import _analyze, _misc, _toVerilog, _toVHDL, _toVHDLPackage
    from myhdl.conversion._misc import _kind as Kind
except ImportError as _error:  # a version that lacks one of the names cannot even simulate
    check_version()
    raise ExportError(f"MyHDL {VERSION} is damaged: {_error}") from _error

__all__ = [
    "VERSION", "Always", "AlwaysComb", "AnySignal", "AttributeResolver", "Block", "BlockDecorator",
    "CallInfo", "ConcatSignal", "Constant", "Instantiator", "Kind", "ShadowSignal",
    "SignalTupleWaiter", "SliceSignal", "TristateDriver", "TristateSignal", "check_version",
    "is_list_of_signals", "unique_block_name", "vectors",
]  # fmt: skip

FOLDER = Path(myhdl.__file__).resolve().parent

ALL_SIGNALS: list[Any] = _simulator._signals
"""Every signal of the process, which MyHDL resets when a simulation ends."""

ALL_BLOCKS: list[Any] = _simulator._blocks
"""Every function that was ever made a block, and so whatever its closure holds."""

ALL_MEMORIES: dict[int, Any] = _extractHierarchy._memInfoMap
"""Every list of signals that an instance has ever had, by its identity."""

ASSIGNED: list[Any] = _simulator._siglist
"""The signals that were assigned in this delta cycle, which the next one updates."""

VHDL_PACKAGE = f"pck_myhdl_{_toVHDL._shortversion}"
VHDL_PACKAGE_VERSION = str(_toVHDLPackage._version)
VHDL_PACKAGE_TEXT = str(_toVHDLPackage._package)

VHDL_VISITORS = {
    Kind.ALWAYS: _toVHDL._ConvertAlwaysVisitor,
    Kind.INITIAL: _toVHDL._ConvertInitialVisitor,
    Kind.ALWAYS_DECO: _toVHDL._ConvertAlwaysDecoVisitor,
    Kind.ALWAYS_SEQ: _toVHDL._ConvertAlwaysSeqVisitor,
    Kind.ALWAYS_COMB: _toVHDL._ConvertAlwaysCombVisitor,
    Kind.SIMPLE_ALWAYS_COMB: _toVHDL._ConvertSimpleAlwaysCombVisitor,
}
VERILOG_VISITORS = {
    Kind.ALWAYS: _toVerilog._ConvertAlwaysVisitor,
    Kind.INITIAL: _toVerilog._ConvertInitialVisitor,
    Kind.ALWAYS_DECO: _toVerilog._ConvertAlwaysDecoVisitor,
    Kind.ALWAYS_SEQ: _toVerilog._ConvertAlwaysSeqVisitor,
    Kind.ALWAYS_COMB: _toVerilog._ConvertAlwaysCombVisitor,
    Kind.SIMPLE_ALWAYS_COMB: _toVerilog._ConvertSimpleAlwaysCombVisitor,
}


# Signals: initial value, name in the exported text, and what a shadow signal is made of.


def initial(signal: Any) -> Any:
    """The value that a signal has before anything happens."""
    return signal._init


def name_of(signal: Any) -> str | None:
    """The name that exported text calls a signal by; None: it has none yet."""
    found: str | None = signal._name
    return found


def set_name(signal: Any, name: str) -> None:
    """Have exported text call a signal ``name``."""
    signal._name = name


def mark_read(signal: Any) -> None:
    """Note that a signal is read; what it is made of is not followed."""
    signal._read = True


def is_in_list(signal: Any) -> bool:
    """Whether a signal has been named as an element of a list."""
    return bool(signal._inList)


def mark_in_list(signal: Any) -> None:
    """Note that a signal is named as an element of a list."""
    signal._inList = True


def slice_of(signal: Any) -> tuple[Any, int, int | None]:
    """What a slice is cut from, left and right bound; without a right one it is an index."""
    return signal._sig, signal._left, signal._right


def operands_of(signal: Any) -> tuple[Any, ...]:
    """What a concatenation was given: signals, constants, strings of bits."""
    return tuple(signal._args)


def signals_in(signal: Any) -> list[Any]:
    """The signals that a concatenation is made of; of any other signal, none."""
    return list(getattr(signal, "_sigargs", ()))


def only_driven(process: Any) -> list[Any]:
    """The signals that a process assigns and never reads, by MyHDL's own account of its names."""
    named: dict[str, Any] = process.symdict
    read = {id(each) for name in process.inputs | process.inouts for each in _flat(named[name])}
    driven = [each for name in process.outputs for each in _flat(named[name])]
    return [each for each in driven if id(each) not in read]


def _flat(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def event_waiters(signal: Any) -> list[Any]:
    """The list of waiters that MyHDL resumes, and empties, at every change of a signal."""
    waiters: list[Any] = signal._eventWaiters
    return waiters


# Lists of signals that processes use ("memories").


def memory_is_used(memory: Any) -> bool:
    """Whether a process uses a list of signals as a list."""
    return bool(memory._used)


def memory_driver(memory: Any) -> str | None:
    """What drives a list: ``reg``, ``wire`` or nothing."""
    driver: str | None = memory._driven
    return driver


def set_memory_driver(memory: Any, driver: str | None) -> None:
    """Note what drives a list."""
    memory._driven = driver


# Enumerations.


def enum_of(item: Any) -> Any:
    """The enumeration that a literal belongs to."""
    return item._type


def enum_name(enum: Any) -> str:
    """The type's name in exported text."""
    return str(enum._name)


def set_enum_name(enum: Any, name: str) -> None:
    """Name the type; MyHDL's own setter adds to the name."""
    enum.__dict__["_name"] = name


def name_enum_after(enum: Any, signal_name: str) -> None:
    """Have MyHDL name the type after a signal that holds it."""
    enum._setName(f"{signal_name}_0")


def enum_literals(enum: Any) -> tuple[str, ...]:
    """The literals of an enumeration, in order."""
    return tuple(enum._names)


def vhdl_literal(item: Any) -> str:
    """An enumeration's literal in VHDL."""
    return str(item._toVHDL())


def verilog_literal(item: Any) -> str:
    """An enumeration's literal in Verilog."""
    return str(item._toVerilog())


# Analysis of processes.


class ProcessAnalysis:
    """MyHDL's analysis of the processes of one design; what it keeps in globals starts anew."""

    def __init__(self, block: Any) -> None:
        """``block``: the instance that holds all processes."""
        _misc._genUniqueSuffix.reset()
        _analyze._enumTypeSet.clear()
        self._names = _getHierarchy("top", block).absnames

    def trees(self, process: Any) -> list[Any]:
        """Syntax trees of a process, with what it reads and drives."""
        trees: list[Any] = _analyze._analyzeGens([process], self._names)
        return trees

    def enums(self) -> list[Any]:
        """The enumerations that the processes analysed so far use, by name."""
        return sorted(_analyze._enumTypeSet, key=enum_name)


def place_of(tree: Any) -> tuple[str, int]:
    """File and line where the source of an analysed process begins."""
    return str(tree.sourcefile), int(tree.lineoffset) + 1


def annotate_vhdl(processes: list[Any]) -> None:
    """Find the VHDL types of all expressions."""
    _toVHDL._annotateTypes(processes)


def annotate_verilog(processes: list[Any]) -> None:
    """Find the Verilog types of all expressions."""
    _toVerilog._annotateTypes(processes)


# Elaboration.


def inspect_with(substitute: Any) -> None:
    """Have MyHDL ask ``substitute`` where it asks the module ``inspect`` who instantiates what."""
    if myhdl.__version__ == VERSION:
        _block.inspect = _instance.inspect = substitute


def parse_with(tree: Callable[[Any], Any]) -> None:
    """Have MyHDL take the syntax tree of a function from ``tree``."""
    if myhdl.__version__ == VERSION:
        _instance._makeAST = _analyze._makeAST = tree


UNRESOLVED = frozenset(
    ("next", "posedge", "negedge", "max", "min", "val", "signed", "verilog_code", "vhdl_code")
)
"""Attributes that MyHDL leaves in a process; any other may be a signal's place in a bundle."""


def resolve_with(resolver: Any) -> None:
    """Have MyHDL resolve the attributes in each process by ``resolver(process).visit(tree)``."""
    if myhdl.__version__ == VERSION:
        _instance._AttrRefTransformer = resolver


def own_tree(function: Any) -> Any:
    """The syntax tree of a function as MyHDL makes it by itself."""
    return _util._makeAST(function)


def dedented(source: str) -> str:
    """A function's source as MyHDL parses it."""
    return str(_util._dedent(source))
