"""Collect all private names of MyHDL that are needed; no other module uses them.

MyHDL has no interface for these names, so another version may change their meaning. ``VERSION`` is
the version in which they were read; ``check_version`` refuses all others.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import getattr_static, signature
from pathlib import Path
from typing import Any

import myhdl

from merp.hdl.conversion.base.errors import ExportError

VERSION = "0.11.52"


def check_version() -> None:
    """Refuse to convert with a MyHDL whose private names may have another meaning.

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
    from myhdl._always_seq import _AlwaysSeq as AlwaysSeq
    from myhdl._block import _Block as Block
    from myhdl._block import _CallInfo as CallInfo
    from myhdl._block import _uniqueify_name as unique_block_name
    from myhdl._block import block_decorator as BlockDecorator
    from myhdl._enum import EnumType
    from myhdl._getHierarchy import _getHierarchy
    from myhdl._instance import _Instantiator as Instantiator
    from myhdl._openport import OpenPort
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
except ImportError as _error:  # a version that lacks one of the names cannot even simulate
    check_version()
    raise ExportError(f"MyHDL {VERSION} is damaged: {_error}") from _error

__all__ = [
    "VERSION", "Always", "AlwaysComb", "AlwaysSeq", "AnySignal", "AttributeResolver", "Block",
    "BlockDecorator",
    "CallInfo", "ConcatSignal", "Constant", "EnumType", "Instantiator", "OpenPort", "ShadowSignal",
    "SignalTupleWaiter", "SliceSignal", "TristateDriver", "TristateSignal", "check_version",
    "is_list_of_signals", "unique_block_name", "vectors",
]  # fmt: skip

FOLDER = Path(myhdl.__file__).resolve().parent

ALL_SIGNALS: list[Any] = _simulator._signals
"""Every signal of the process, which MyHDL resets when a simulation ends."""

ALL_BLOCKS: list[Any] = _simulator._blocks
"""Every function that was ever made a block, and so all objects in its closure."""

ALL_MEMORIES: dict[int, Any] = _extractHierarchy._memInfoMap
"""Every list of signals of all instances so far, by its identity."""

ASSIGNED: list[Any] = _simulator._siglist
"""The signals that were assigned in this delta cycle, which the next one updates."""

# Signals: initial value, name in the exported text, and operands of a shadow signal.


def initial(signal: Any) -> Any:
    """Return the value of a signal before a simulation."""
    return signal._init


def name_of(signal: Any) -> str | None:
    """Return the name of a signal in exported text; None if it has no name yet."""
    found: str | None = signal._name
    return found


def set_name(signal: Any, name: str) -> None:
    """Set the name of a signal in exported text."""
    signal._name = name


def mark_read(signal: Any) -> None:
    """Note that a signal is read, without the signals of which it consists."""
    signal._read = True


def unbound(function: Any) -> tuple[Any, dict[str, Any]]:
    """Return the block of an object's method, and the object as its first argument by name."""
    method = getattr(function, "bound_func", None)
    owner = getattr(method, "__self__", None)
    found = getattr_static(type(owner), getattr(method, "__name__", ""), None)
    if owner is None or not isinstance(found, BlockDecorator):
        return function, {}
    return found, {next(iter(signature(found.func).parameters)): owner}


def assigned_to(signal: Any) -> Any:
    """Return the signal whose value another one always has by ``signal.assign(...)``, or None."""
    text: Any = None if isinstance(signal, ShadowSignal) else getattr(signal, "toVHDL", None)
    names = text.__code__.co_freevars if hasattr(text, "__closure__") else ()
    return text.__closure__[names.index("sig")].cell_contents if "sig" in names else None


def forget_driver(signal: Any) -> None:
    """Undo ``signal.driven = "reg"``, by which a design informs MyHDL's converter."""
    signal._driven = None


def has_text_only(block: Any) -> bool:
    """Return whether a block has no process, only its ``verilog_code`` or ``vhdl_code``."""
    texts = [getattr(block, each, None) for each in ("verilog_code", "vhdl_code")]
    return not block.subs and any(texts)


def is_in_list(signal: Any) -> bool:
    """Return whether a signal has been named as an element of a list."""
    return bool(signal._inList)


def mark_in_list(signal: Any) -> None:
    """Note that a signal is named as an element of a list."""
    signal._inList = True


def slice_of(signal: Any) -> tuple[Any, int, int | None]:
    """Return the base of a slice, its left and its right bound; an index has no right bound."""
    return signal._sig, signal._left, signal._right


def operands_of(signal: Any) -> tuple[Any, ...]:
    """Return the operands of a concatenation: signals, constants, strings of bits."""
    return tuple(signal._args)


def signals_in(signal: Any) -> list[Any]:
    """Return the signals of a concatenation; of any other signal, none."""
    return list(getattr(signal, "_sigargs", ()))


def only_driven(process: Any) -> list[Any]:
    """Return the signals that a process assigns and never reads, according to MyHDL."""
    named: dict[str, Any] = process.symdict
    read = {id(each) for name in process.inputs | process.inouts for each in _flat(named[name])}
    driven = [each for name in process.outputs for each in _flat(named[name])]
    return [each for each in driven if id(each) not in read]


def _flat(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def event_waiters(signal: Any) -> list[Any]:
    """Return the list of waiters that MyHDL resumes, and empties, at every change of a signal."""
    waiters: list[Any] = signal._eventWaiters
    return waiters


# Lists of signals that processes use ("memories").


def memory_is_used(memory: Any) -> bool:
    """Return whether a process uses a list of signals as a list."""
    return bool(memory._used)


def memory_driver(memory: Any) -> str | None:
    """Return the kind of driver of a list: ``reg``, ``wire`` or None."""
    driver: str | None = memory._driven
    return driver


def set_memory_driver(memory: Any, driver: str | None) -> None:
    """Note the kind of driver of a list."""
    memory._driven = driver


# Enumerations.


def enum_of(item: Any) -> Any:
    """Return the enumeration of a literal."""
    return item._type


def enum_literals(enum: Any) -> tuple[str, ...]:
    """Return the literals of an enumeration, in order."""
    return tuple(enum._names)


def literal_name(item: Any) -> str:
    """Return the name of a member of an enumeration."""
    return str(item._name)


def literal_width(item: Any) -> int:
    """Return the number of bits of a member of an enumeration."""
    return int(item._nrbits)


def encoding(item: Any) -> str:
    """Return the bits of a member of an enumeration, in Verilog."""
    return str(item._toVerilog())


def code(item: Any) -> str:
    """Return the bits of a member of an enumeration."""
    return str(item._val)


def enum_members(enum: Any) -> list[Any]:
    """Return the members of an enumeration, in order."""
    return [getattr(enum, each) for each in enum_literals(enum)]


# Processes.


def process_names(block: Any) -> dict[int, str]:
    """Return the names of all processes below a block, by ``id``, with their blocks' names."""
    names: dict[int, str] = _getHierarchy("top", block).absnames
    return names


def edge_of(waiter: Any) -> tuple[Any, str]:
    """Return the signal of an edge that a process waits for, and ``posedge`` or ``negedge``."""
    signal = waiter.sig
    return signal, "posedge" if waiter is signal.posedge else "negedge"


def mark_used(memory: Any) -> None:
    """Note that a process uses a list of signals as a list."""
    memory._used = True


# Elaboration.


def inspect_with(substitute: Any) -> None:
    """Replace the module ``inspect`` by ``substitute`` in MyHDL's search for instances."""
    if myhdl.__version__ == VERSION:
        _block.inspect = _instance.inspect = substitute


def parse_with(tree: Callable[[Any], Any]) -> None:
    """Replace MyHDL's parser of a function by ``tree``."""
    if myhdl.__version__ == VERSION:
        _instance._makeAST = tree


UNRESOLVED = frozenset(
    ("next", "posedge", "negedge", "max", "min", "val", "signed", "verilog_code", "vhdl_code")
)
"""Attributes that MyHDL leaves in a process; any other may be a signal's place in a bundle."""


def resolve_with(resolver: Any) -> None:
    """Replace MyHDL's resolution of attributes by ``resolver(process).visit(tree)``."""
    if myhdl.__version__ == VERSION:
        _instance._AttrRefTransformer = resolver


def own_tree(function: Any) -> Any:
    """Return the syntax tree of a function, made by MyHDL itself."""
    return _util._makeAST(function)


def dedented(source: str) -> str:
    """Return a function's source as MyHDL parses it."""
    return str(_util._dedent(source))
