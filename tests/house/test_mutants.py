"""The mutants keep up with the hardware: the list by hand, and the faults of the mutator."""

import ast
import re
import runpy
from pathlib import Path
from random import Random

import pytest
import trial
from forked import Outcome
from mutator import KINDS, all_faults
from nearest import nearest_tests

from checkout import ROOT

FOLDER = ROOT / "tests" / "mutants"


def test_every_mutant_has_its_line_and_its_tests() -> None:
    mutants = runpy.run_path(str(FOLDER / "run.py"))["read_mutants"](FOLDER / "mutants.toml")
    assert len(mutants) > 250
    for mutant in mutants:
        assert mutant.line != mutant.fault
        for test in mutant.tests:
            file, _, chosen = test.partition(" -k ")
            assert (ROOT / file).is_file(), test
            text = (ROOT / file).read_text()
            for word in set(re.findall(r"\w+", chosen)) - {"and", "or", "not"}:
                assert word in text, f"{test}: no test there has {word} in its name"


FAULTS = all_faults()
NAMES = {fault.name for fault in FAULTS}


def test_there_are_thousands_of_faults_and_always_the_same() -> None:
    assert len(FAULTS) > 5000
    assert all_faults() == FAULTS
    assert len(NAMES) == len(FAULTS)
    assert {fault.kind for fault in FAULTS} == set(KINDS)
    assert sum(fault.kind == "reset" for fault in FAULTS) > 120


@pytest.mark.full
def test_the_order_by_seed_stays_when_faults_go() -> None:
    chosen = runpy.run_path(str(FOLDER / "sample.py"))["chosen"]
    everything = [each.name for each in chosen("", "", 0)]
    assert set(everything) == NAMES
    assert everything != [each.name for each in chosen("", "", 1)]
    some = [each.name for each in chosen("reset", "", 0)]
    assert some == [name for name in everything if name in set(some)]


@pytest.mark.full
def test_the_faults_of_rooms_have_the_order_of_all_and_no_others_count_for_the_first() -> None:
    chosen = runpy.run_path(str(FOLDER / "sample.py"))["chosen"]
    everything = [each.name for each in chosen("", "", 0)]
    rooms = ("hdl/cnn_merp/pipeline/", "hdl/mac_array/output/")
    some = [name for name in everything if name[0].startswith(rooms)]
    assert [
        each.name for each in chosen("", "", 0, 30, ("cnn_merp/pipeline", "mac_array/output"))
    ] == (some[:30])


@pytest.mark.parametrize(
    "rooms", ["pipelines", "fused,", "cnn_merp/pipeline/admission.py", "../tests"]
)
def test_a_room_that_is_none_is_refused(
    rooms: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main = runpy.run_path(str(FOLDER / "sample.py"))["main"]
    monkeypatch.setattr("sys.argv", ["sample.py", "--rooms", rooms])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert f"--rooms: {rooms.split(',')[-1]!r} is no room of hdl: allowed are arithmetic, axi" in (
        capsys.readouterr().err
    )


def test_a_fault_is_one_change_and_still_python() -> None:
    for fault in Random(0).sample(FAULTS, 200):
        own = (ROOT / fault.file).read_text()
        assert ast.dump(ast.parse(fault.text)) != ast.dump(ast.parse(own))
        rest = len(own.encode()) - (fault.end - fault.start)
        assert len(fault.text.encode()) == rest + len(fault.by.encode())
        assert fault.line != fault.fault


@pytest.mark.parametrize(
    ("file", "kind", "line", "fault"),
    [
        ("streams/stream_slice", "reset", "waiting.next = False", "pass"),
        ("axi/axi_registers", "reset", "pending.next = 0", "pass"),
        (
            "cnn_merp/phases/run_counters", "condition", "if exhausted or final_slot",
            "if (exhausted)",
        ),
        (
            "cnn_merp/pipeline/admission", "condition", "elif leaves and not enters and count != 0",
            "elif (leaves and count != 0)",
        ),
        ("cnn_merp/pipeline/admission", "condition", "if enters and not leaves", "if (enters)"),
        (
            "base/gather", "comparison", "status.framing_error.next = wrong != 0",
            "status.framing_error.next = (wrong == all_done)",
        ),
        (
            "mazouz/convolution_element", "condition",
            "if source.valid and source.ready and source.last",
            "if (source.valid and source.last)",
        ),
    ],
)  # fmt: skip
def test_the_faults_that_survived_once_are_among_them(
    file: str, kind: str, line: str, fault: str
) -> None:
    found = [each for each in FAULTS if (each.file, each.kind) == (f"hdl/{file}.py", kind)]
    assert (line, fault) in [(each.line, each.fault) for each in found]


def test_no_fault_is_made_of_what_a_declaration_says_in_vain() -> None:
    """``value`` and ``chosen`` are set before they are read, ``chosen`` in every arm; and bits of
    zero are the same wherever they are taken from.
    """
    found = [each for each in FAULTS if each.file == "hdl/fused/fused_low_product.py"]
    declared = [each.fault for each in found if "modbv" in each.line]
    assert declared == ["term = modbv((1))[width:]"]
    assert sum("chosen" in each.line for each in found) > 4
    assert not [each for each in FAULTS if each.kind == "range" and "intbv(0)[place" in each.fault]


@pytest.mark.parametrize(("broken", "verdict"), [(False, "killed"), (True, "error")])
def test_a_test_that_fails_without_the_fault_kills_nothing(
    broken: bool, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = tmp_path / "0" / "hdl" / "one.py"

    def run_tests(*_: object) -> Outcome:
        failed = broken or planted.read_text() == "fault"
        return Outcome(*("failed", "a test", "OSError") if failed else ("passed", "a test"))

    monkeypatch.setattr(trial, "TREES", tmp_path)
    monkeypatch.setattr(trial, "_copy", lambda tree: None)
    monkeypatch.setattr(trial, "prepare", lambda tree: None)
    monkeypatch.setattr(trial, "run_tests", run_tests)
    attempts = trial.Trial()
    planted.parent.mkdir()
    planted.write_text("")
    found = attempts.attempt("hdl/one.py", "fault", [["a test"]], {})
    assert (found.name, found.test) == (verdict, "a test")
    assert found.error.endswith("OSError")


def test_what_tests_of_the_hardware_read_is_copied_for_a_trial() -> None:
    read = {
        name
        for path in (ROOT / "tests" / "hdl").rglob("*.py")
        for name in re.findall(r'ROOT / "(\w+)', path.read_text())
    }
    assert read
    assert read <= {*trial.FOLDERS, *trial.READ}


def test_every_file_with_faults_has_tests() -> None:
    for file in sorted({fault.file for fault in FAULTS}):
        tests = [test for circle in nearest_tests(file) for test in circle]
        assert tests, file
        assert len(set(tests)) == len(tests)


def test_what_changes_nothing_is_among_the_faults_and_says_why() -> None:
    read = runpy.run_path(str(FOLDER / "sample.py"))["read_equivalent"]
    for name, why in read(FOLDER / "equivalent.toml").items():
        assert name in NAMES, name
        assert len(why) > 40, name
