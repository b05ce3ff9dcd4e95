"""A pytest plug-in that runs MyHDL's own tests for conversion, and replays each of their designs.

``verify``, ``analyze`` and a co-simulation no longer run a simulator of another language. A bench
only runs in MyHDL, and the plug-in notes the inputs that it drives into each design. MyHDL's own
converter still converts, because tests check its refusals. When all tests of a file are done,
``merp.replay`` compares each design. ``MYHDL_SUITE`` names a JSON file with the request.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import myhdl
import pytest
from suite_designs import Design, blocks_in, decorated, found_in
from suite_traces import TooLongError, at_most, watch
from suite_verdicts import told

from merp.hdl.conversion.base.internals import Block

REQUEST = "MYHDL_SUITE"
SECONDS = 60.0
SIMULATORS = ("iverilog", "vvp", "cver", "ghdl", "nvc", "vlib", "vmap", "vlog", "vcom")


class Suite:
    """The designs found in the tests of one file."""

    def __init__(self) -> None:
        self.designs: dict[int, Design] = {}
        self.stand_ins: list[Any] = []
        self.benches: set[str] = set()
        self.outcomes: Counter[str] = Counter()
        self.test = "import"
        self.passed: set[str] = set()
        self.passive = False

    def note(self, root: Any) -> list[Design]:
        """Note the designs in an instance; the same instance has the same designs each time."""
        found = []
        for design in found_in(root):
            known = self.designs.setdefault(id(design.instance), design)
            known.tests.add(self.test)
            found.append(known)
        if not found:
            self.benches.add(str(root.func.__qualname__).replace(".<locals>", ""))
        return found

    def watchers(self, args: tuple[Any, ...]) -> list[Any]:
        """Return generators that note the inputs in a simulation."""
        for root in blocks_in(args):
            self.note(root)
        known = self.designs.values()
        return [watch(each) for each in known if not each.reasons and not each.vectors]


SUITE = Suite()
_PATCHES = ExitStack()


def _converts(convert: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap MyHDL's conversion of an instance; note the designs and the refusals."""

    def noted(self: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
        if SUITE.passive or not isinstance(func, Block):
            return convert(self, func, *args, **kwargs)
        found = SUITE.note(func)
        try:
            return convert(self, func, *args, **kwargs)
        except myhdl.ConversionError as error:
            if len(found) == 1:
                found[0].refusals[SUITE.test] = " ".join(str(error).split())
            raise

    return noted


def _verifies(original: Callable[..., Any]) -> Callable[..., Any]:
    """Replace ``verify`` and ``analyze``: convert as MyHDL does, then simulate in MyHDL."""

    def verified(self: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(func, Block):
            return original(self, func, *args, **kwargs)
        func.convert(hdl="VHDL", **kwargs)
        try:
            with at_most(SECONDS):
                simulation = myhdl.Simulation(func)
                simulation.run(None, 1)
        except (Exception, AssertionError):  # of the bench: the inputs so far are noted
            pass
        return 0

    return verified


def _simulates(begin: Callable[..., None]) -> Callable[..., None]:
    def begun(self: Any, *args: Any) -> None:
        begin(self, *args, *([] if SUITE.passive else SUITE.watchers(args)))

    return begun


class InPlaceOfCosimulation:
    """The design itself in place of a converted design."""

    def __new__(cls, exe: object = "", **kwargs: Any) -> Any:
        """Return an instance of the design of that name with these signals."""
        known = [each for each in SUITE.designs.values()
                 if each.function.func.__name__ == kwargs.get("name")]  # fmt: skip
        for design in reversed(known):
            found = decorated(design.instance)
            if found is not None:
                args = {name: kwargs.get(name, value) for name, value in found[1].items()}
                SUITE.stand_ins.append(design.build(args))
                return SUITE.stand_ins[-1]
        return []


def _calls(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that runs programs: it skips simulators and reports their success."""

    def called(command: Any, *args: Any, **kwargs: Any) -> Any:
        words = command.split() if isinstance(command, str) else list(command)
        if words and Path(words[0]).name in SIMULATORS:
            return 0
        return original(command, *args, **kwargs)

    return called


def pytest_configure(config: pytest.Config) -> None:
    """Replace the functions that convert, simulate and call other simulators."""
    verification = type(myhdl.conversion.verify)
    simulation = sys.modules["myhdl._Simulation"]
    for owner, name, instead in (
        (verification, "__call__", _verifies(verification.__call__)),
        (type(myhdl.toVHDL), "__call__", _converts(type(myhdl.toVHDL).__call__)),
        (type(myhdl.toVerilog), "__call__", _converts(type(myhdl.toVerilog).__call__)),
        (myhdl.Simulation, "__init__", _simulates(myhdl.Simulation.__init__)),
        (myhdl, "Cosimulation", InPlaceOfCosimulation),
        (simulation, "Cosimulation", InPlaceOfCosimulation),
        (subprocess, "call", _calls(subprocess.call)),
        (os, "system", _calls(os.system)),
    ):
        _PATCHES.enter_context(patch.object(owner, name, instead))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """Name the test, and end it if it takes too long."""
    SUITE.test = item.name
    try:
        with at_most(2 * SECONDS):
            yield
    except TooLongError:
        SUITE.outcomes["too long"] += 1


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count the results of the tests."""
    if report.when == "call" or report.outcome != "passed":
        SUITE.outcomes[report.outcome] += 1
        if report.outcome == "passed":
            SUITE.passed.add(report.nodeid.rpartition("::")[2])


def pytest_sessionfinish() -> None:
    """Compare all designs that were found, and write the results."""
    request = json.loads(Path(os.environ[REQUEST]).read_text(encoding="utf-8"))
    _PATCHES.close()
    SUITE.passive = True
    result: dict[str, Any] = {
        "outcomes": dict(SUITE.outcomes),
        "benches": sorted(SUITE.benches),
        "designs": [],
    }
    out = Path(request["result"])
    for number, design in enumerate(_distinct()):
        folder = Path(request["folder"]) / str(number)
        result["designs"].append(told(design, request["engines"], folder))
        out.write_text(json.dumps(result, indent=1), encoding="utf-8")
    out.write_text(json.dumps(result | {"complete": True}, indent=1), encoding="utf-8")


def _distinct() -> Iterator[Design]:
    """Yield one of all designs with the same hardware: the one whose bench drives most inputs.

    A replacement for a co-simulation counts as the original design. With signals of other types,
    which are only possible in text of another language, it is not a design that a test
    instantiates.
    """
    ours = set(map(id, SUITE.stand_ins))
    families: dict[Any, list[Design]] = {}
    for design in SUITE.designs.values():
        families.setdefault(design.key, []).append(design)
    for family in families.values():
        if all(id(design.instance) in ours for design in family):
            continue
        best = max(family, key=lambda design: len(design.vectors))
        for each in family:
            best.tests |= each.tests
            best.refusals |= each.refusals
        best.asked = any(test in SUITE.passed for test in best.refusals)
        yield best
