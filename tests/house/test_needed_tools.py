"""A test whose tool is missing is skipped with its reason, and fails where all must be there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from checkout import ROOT
from needed_tools import TOOLS, needs

REGISTERS = "tests/models/base/test_register_map.py"
BROWSER = "tests/tools/test_report_browser.py"
SLICE = "tests/hdl/streams/test_stream_slice.py"
OWN_WAYS = re.compile(r"\bskipif\b|\bimportorskip\b|\bpytest\.skip\b|\bmark\.skip\b")


def summary(tmp_path: Path, *, required: bool) -> str:
    """What pytest says of tests that need gcc, chromium and GHDL, where PATH leads nowhere."""
    environment = {**os.environ, "PATH": str(tmp_path), "REQUIRE_HDL": str(int(required))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k"]
    command += ["the_example_of or browser or vhdl", REGISTERS, BROWSER, SLICE]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == int(required), done.stdout + done.stderr
    return done.stdout


def test_without_a_tool_its_tests_are_skipped_each_with_its_reason(tmp_path: Path) -> None:
    text = summary(tmp_path, required=False)
    assert re.search(r"^\d+ skipped, \d+ deselected", text, re.MULTILINE), text
    for name in ("gcc", "ghdl", "chromium"):
        assert f"{name} is not installed: {TOOLS[name].source} (" in text, text


def test_where_all_tools_must_be_there_a_missing_one_fails_in_one_line(tmp_path: Path) -> None:
    text = summary(tmp_path, required=True)
    for name in ("gcc", "ghdl"):
        line = f"{name} is not installed: {TOOLS[name].source} (REQUIRE_HDL=1)"
        assert text.splitlines().count(line) == 1, text
    assert re.search(r"^SKIPPED \[\d\] .*chromium is not installed.* \(optional\)", text, re.M)
    assert re.search(r"^3 skipped, \d+ deselected, 2 errors", text, re.MULTILINE), text


def test_a_browser_and_headers_of_fst_are_optional() -> None:
    assert [name for name, tool in TOOLS.items() if tool.optional] == ["lz4", "chromium"]


def test_a_tool_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^no such tool: gc; there are ghdl, "):
        needs("gcc", "gc")


def test_no_test_skips_in_a_way_of_its_own() -> None:
    own = {Path(__file__), ROOT / "tests" / "house" / "needed_tools.py"}
    files = [path for path in (ROOT / "tests").rglob("*.py") if path not in own]
    assert len(files) > 100
    assert [str(path) for path in files if OWN_WAYS.search(path.read_text())] == []
