"""Determine the verdict of a design: converted, compiled and compared in each language."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from suite_designs import Design
from suite_traces import SEED, NoTraceError, Recorded, TooLongError, at_most, recorded

from merp.cosim.block.replay import replay
from merp.hdl.conversion.base.errors import ExportError
from merp.hdl.conversion.convert import Language, convert

LANGUAGES: dict[str, Language] = {"ghdl": "vhdl", "verilator": "verilog"}
EQUAL, REFUSED, FAILS = "equal", "refused", "converter fails"
UNBUILT, DIFFERS, STOPS = "does not compile", "differs", "does not run"
UNREACHED, UNSIMULATED = "not reached", "MyHDL cannot simulate it"
SECONDS = 240.0
_HARNESS = ("ports of trace and entity differ", "the trace drives", "has no output to compare")


def told(design: Design, engines: Sequence[str], folder: Path) -> dict[str, Any]:
    """Return all results of a design, as plain values."""
    began = perf_counter()
    found: dict[str, Any] = {
        "design": design.name,
        "line": design.line,
        "parameters": [list(each) for each in design.key[2]],
        "tests": sorted(design.tests),
        "reasons": sorted(design.reasons),
        "myhdl": _plain(next(iter(design.refusals.values()), "")),
        "asked": design.asked,
        "verdicts": {},
    }
    if not design.reasons:
        folder.mkdir(parents=True)
        found |= _compared(design, engines, folder)
    found["seconds"] = round(perf_counter() - began, 2)
    return found


def _compared(design: Design, engines: Sequence[str], folder: Path) -> dict[str, Any]:
    verdicts = {engine: _converted(design, engine, folder) for engine in engines}
    found: dict[str, Any] = {"verdicts": {name: list(each) for name, each in verdicts.items()}}
    left = [engine for engine, (verdict, _) in verdicts.items() if verdict == EQUAL]
    if not left:
        return found
    try:
        trace = recorded(design)
    except NoTraceError as error:
        found["verdicts"] |= {engine: [UNSIMULATED, _plain(str(error))] for engine in left}
        return found
    found |= {"rows": len(trace.trace.rows), "stimulus": trace.source, "moves": trace.moves}
    for engine in left:
        found["verdicts"][engine] = list(_replayed(trace, engine, folder / engine))
    return found


def _converted(design: Design, engine: str, folder: Path) -> tuple[str, str]:
    try:
        with at_most(SECONDS):
            random.seed(SEED)
            convert(design.function, design.copied({}), LANGUAGES[engine], folder / "export")
    except ExportError as error:
        return REFUSED, _plain(str(error))
    except Exception as error:
        return FAILS, _plain(f"{type(error).__name__}: {error}")
    return EQUAL, ""


def _replayed(found: Recorded, engine: str, folder: Path) -> tuple[str, str]:
    try:
        with at_most(SECONDS):
            random.seed(SEED)
            replay(found.trace, folder, engine)
    except AssertionError as error:
        said = _plain(str(error))
        return (UNREACHED if any(each in said for each in _HARNESS) else DIFFERS), said
    except TooLongError as error:
        return UNREACHED, str(error)
    except RuntimeError as error:
        said = str(error)
        return (UNBUILT if " failed on " in said else STOPS), _plain(_first_error(said))
    except Exception as error:
        return FAILS, _plain(f"{type(error).__name__}: {error}")
    shutil.rmtree(folder, ignore_errors=True)
    return EQUAL, ""


def _first_error(log: str) -> str:
    """Return the line of a log with the error."""
    lines = log.splitlines()
    for wanted in (r"^%Error: \S+:\d+|:\d+:\d+: |:error:", r"%Error|[Ee]rror:|failure"):
        found = next((line for line in lines if re.search(wanted, line)), None)
        if found is not None:
            return found
    return " ".join(lines[-5:])


def _plain(text: str) -> str:
    """Return a message in one line, without paths of this machine."""
    text = " ".join(text.split())
    text = re.sub(r"(/[\w.+-]+)+/", "", text)
    return re.sub(r" at 0x[0-9a-f]+", "", text)
