import re
import threading
from pathlib import Path
from typing import Any

import myhdl
import pytest
from myhdl import (
    Signal,
    TristateSignal,
    always,
    always_comb,
    enum,
    intbv,
)

from merp.hdl.base.signals import bits
from merp.hdl.conversion.convert import ExportError, convert
from merp.hdl.conversion.entity import entity
from trap_wiring import register


@entity
def configured(clk: Any, d: Any, q: Any, mode: Any) -> Any:
    """A parameter of any type."""
    return register(clk, d, q)


@entity
def takes_list(clk: Any, words: Any, q: Any) -> Any:
    """A list as a port."""
    return register(clk, words[0], q)


@entity
def two_drivers(clk: Any, d: Any, q: Any) -> Any:
    """Two instances drive one signal."""
    return register(clk, d, q), register(clk, d, q)


@entity
def process_and_instance(clk: Any, d: Any, q: Any) -> Any:
    """A process and an instance drive one signal."""
    inner = register(clk, d, q)

    @always(clk.posedge)
    def store() -> None:
        q.next = d

    return inner, store


@entity
def process_and_element(clk: Any, d: Any, q: Any) -> Any:
    """A process writes into a list, an instance drives an element of it."""
    words = [bits(8) for _ in range(4)]
    inner = register(clk, d, words[0])

    @always(clk.posedge)
    def store() -> None:
        words[d[2:]].next = d
        q.next = words[d[4:2]]

    return inner, store


@entity
def half_and_half(clk: Any, d: Any, q: Any) -> Any:
    """An instance drives one element of a list, a process the other."""
    words = [bits(8) for _ in range(2)]
    other = words[1]
    inner = register(clk, d, words[0])

    @always(clk.posedge)
    def store() -> None:
        other.next = d

    @always_comb
    def pick() -> None:
        q.next = words[d[0]]

    return inner, store, pick


@entity
def two_lists(clk: Any, d: Any, q: Any) -> Any:
    """A signal is in two lists that processes index."""
    words = [bits(8) for _ in range(2)]
    again = [words[1], bits(8)]

    @always(clk.posedge)
    def store() -> None:
        q.next = words[d[0]] ^ again[d[1]]

    return register(clk, d, words[0]), store


@entity
def port_in_list(clk: Any, d: Any, q: Any) -> Any:
    """A port is in a list that a process indexes."""
    words = [d, bits(8)]

    @always(clk.posedge)
    def store() -> None:
        q.next = words[d[0]]

    return store


@entity
def assigned_twice(clk: Any, d: Any, q: Any) -> Any:
    """A signal is assigned to another one and driven by a process."""
    middle = bits(8)
    middle.assign(d)

    @always_comb
    def drive() -> None:
        middle.next = d

    @always_comb
    def read() -> None:
        q.next = middle

    return drive, read


@entity
def same_element(clk: Any, d: Any, q: Any) -> Any:
    """Two processes drive the last element of a list."""
    words = [bits(8) for _ in range(4)]

    @always(clk.posedge)
    def lower() -> None:
        for i in range(4):
            words[i].next = d

    @always(clk.posedge)
    def last() -> None:
        words[3].next = q

    @always(clk.posedge)
    def read() -> None:
        q.next = words[3]

    return lower, last, read


@entity
def drives_slice(clk: Any, d: Any, q: Any) -> Any:
    """An output goes to a slice."""
    return register(clk, d, q(8, 0))


@entity
def case_port(clk: Any, d: Any, D: Any) -> Any:
    """Ports that differ by case."""
    return register(clk, d, D)


@entity
def forgets(clk: Any, d: Any, q: Any) -> Any:
    """Returns nothing."""
    register(clk, d, q)
    return ()


@entity
def umlaut(clk: Any, d: Any, q: Any) -> Any:
    """Über."""
    return register(clk, d, q)


def _clk() -> Any:
    return Signal(bool(0))


def _words(width: int = 8) -> dict[str, Any]:
    return {"clk": _clk(), "d": bits(width), "q": bits(width)}


@pytest.mark.parametrize("hdl", ["vhdl", "verilog"])
@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        (takes_list, {"clk": _clk(), "words": [bits(8)], "q": bits(8)}, "words is a list"),
        (two_drivers, _words(), "output q of register_1 drives a signal that has another driver"),
        (process_and_instance, _words(), "another driver"),
        (process_and_element, _words(), "another driver"),
        (half_and_half, _words(), "a list is driven by a process and by instances"),
        (same_element, _words(), "processes lower and last drive element 3 of one list"),
        (two_lists, _words(), "a signal is in two lists"),
        (port_in_list, _words(), "port d is in a list that a process uses"),
        (drives_slice, _words(16) | {"d": bits(8)}, "must go to a whole signal"),
        (case_port, {"clk": _clk(), "d": bits(8), "D": bits(8)}, "differs from another by case"),
        (forgets, _words(), "no instances"),
        (umlaut, _words(), "must be ASCII"),
        (register, _words() | {"d": Signal(0)}, "fixed number of bits"),
        (register, _words() | {"d": Signal(enum("A1", "B1").A1)}, "assigned to a vector"),
        (register, _words() | {"d": TristateSignal(intbv(0)[8:])}, "tristate"),
        (register.func, _words(), "not a block"),
        (configured, _words() | {"mode": object()}, "parameter mode is a object"),
    ],
)
def test_says_what_cannot_be_exported(
    function: Any, args: Any, message: str, hdl: Any, tmp_path: Path
) -> None:
    with pytest.raises(ExportError, match=message):
        convert(function, args, hdl, tmp_path)
    assert list(tmp_path.iterdir()) == []


@entity
def returns_signal(clk: Any, d: Any, q: Any) -> Any:
    """Returns a signal beside its instance."""
    return register(clk, d, q), q


@entity
def reads_a_file(clk: Any, d: Any, q: Any) -> Any:
    """A statement that has no hardware."""

    @always(clk.posedge)
    def store() -> None:
        with open("words") as words:
            q.next = len(words.read())

    return store


@entity
def too_large(clk: Any, d: Any, q: Any) -> Any:
    """A constant that does not fit."""
    limit = Signal(intbv(300, 0, 256))
    return register(clk, limit, q)


@entity
def outer(clk: Any, d: Any, q: Any) -> Any:
    """The fault is inside."""
    return too_large(clk, d, q)


@entity
def checks(clk: Any, d: Any, q: Any) -> Any:
    """Refuses its own arguments."""
    raise ValueError("d has an odd width")


@pytest.mark.parametrize(
    ("function", "cause", "message"),
    [
        (returns_signal, myhdl.BlockError, "returns_signal: .*return its block instances"),
        (too_large, ValueError, "too_large: MyHDL fails with ValueError: .*300 .*simulate"),
        (outer, ValueError, "^too_large: MyHDL fails"),
    ],
)
def test_names_the_block_that_myhdl_refuses_and_what_to_do(
    function: Any, cause: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ExportError, match=message) as raised:
        convert(function, _words(), "vhdl", tmp_path)
    assert isinstance(raised.value.__cause__, cause)


@entity
def two_edges(clk: Any, d: Any, q: Any) -> Any:
    """Wait for two edges without a test of a reset."""

    @always(clk.posedge, clk.negedge)
    def store() -> None:
        q.next = d

    return store


@pytest.mark.parametrize("hdl", ["vhdl", "verilog"])
@pytest.mark.parametrize(
    ("function", "place", "reason"),
    [
        (two_edges, "@always(clk.posedge, clk.negedge)", "waits for several edges"),
        (same_element, "def last() -> None:", "drive element 3"),
        (
            assigned_twice,
            "def assigned_twice(clk: Any, d: Any, q: Any) -> Any:",
            "has another driver",
        ),
    ],
)
def test_names_the_process_that_cannot_be(
    function: Any, place: str, reason: str, hdl: Any, tmp_path: Path
) -> None:
    lines = [text.strip() for text in Path(__file__).read_text().splitlines()]
    line = lines.index(place) + 1 - place.startswith("def")
    with pytest.raises(ExportError, match=f"{Path(__file__).name} line {line}: .*{reason}"):
        convert(function, _words(), hdl, tmp_path)


def test_a_top_is_not_called_like_the_support_package(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="name HDL_support is the name of the support"):
        convert(register, _words(), "vhdl", tmp_path, name="HDL_support")
    assert convert(register, _words(), "verilog", tmp_path, name="HDL_support").top


@pytest.mark.parametrize("hdl", ["vhdl", "verilog"])
def test_names_the_statement_that_has_no_hardware_and_what_to_do(hdl: Any, tmp_path: Path) -> None:
    file = Path(__file__)
    lines = [text.strip() for text in file.read_text().splitlines()]
    line = lines.index('with open("words") as words:') + 1
    message = (
        f"reads_a_file: {file.name} line {line}: a With statement has no hardware; "
        "use assignments, if, match, for and helper functions (docs/conversion.md#refused)"
    )
    with pytest.raises(ExportError, match=f"^{re.escape(message)}$"):
        convert(reads_a_file, _words(), hdl, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_the_design_passes_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^d has an odd width$") as raised:
        convert(checks, _words(), "vhdl", tmp_path)
    assert type(raised.value) is ValueError


def test_says_which_argument_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="register: missing a required argument: 'q'"):
        convert(register, {"clk": _clk(), "d": bits(8)}, "vhdl", tmp_path)


def test_another_version_of_myhdl_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(myhdl, "__version__", "0.12")
    with pytest.raises(ExportError, match=r"^MyHDL 0\.12 is installed: allowed is 0\.11\.52$"):
        convert(register, _words(), "vhdl", tmp_path)


@pytest.mark.parametrize("licence", ["", "MIT\nentity", "Gäste"])
def test_a_licence_that_could_end_the_comment_is_refused(licence: str, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="allowed is an SPDX expression or None"):
        convert(register, _words(), "vhdl", tmp_path, licence=licence)


@entity
def waits(clk: Any, d: Any, q: Any) -> Any:
    """Elaborates until it is told to go on."""
    reached.set()
    assert proceed.wait(60)
    return register(clk, d, q)


@entity
def converts(clk: Any, d: Any, q: Any) -> Any:
    """Converts another design on its way."""
    convert(register, _words(), "vhdl", Path("nowhere"))
    return register(clk, d, q)


reached, proceed = threading.Event(), threading.Event()


def test_a_second_conversion_at_the_same_time_is_refused(tmp_path: Path) -> None:
    first = threading.Thread(target=convert, args=(waits, _words(), "vhdl", tmp_path / "first"))
    first.start()
    try:
        assert reached.wait(60)
        instance = register(**_words())
        with pytest.raises(ExportError, match="another conversion is running in this process"):
            convert(register, _words(), "vhdl", tmp_path / "second")
    finally:
        proceed.set()
        first.join(60)
    assert instance.subs, "a stub: the simulation of this thread was given another one's"
    assert (tmp_path / "first" / "waits.vhd").exists()
    assert convert(register, _words(), "vhdl", tmp_path / "second").files


def test_a_conversion_within_another_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="another conversion is running"):
        convert(converts, _words(), "vhdl", tmp_path)
    assert list(tmp_path.iterdir()) == []
