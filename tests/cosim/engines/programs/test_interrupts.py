"""An interrupt interrupts, wherever it strikes: a finaliser, where it is ignored, the compiler."""

import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from time import monotonic
from types import FrameType

import pytest
from numba.core.compiler_lock import global_compiler_lock

from merp.cosim.engines.programs import interrupts
from merp.cosim.engines.programs.interrupts import AGAIN, interrupts_that_last, uninterrupted
from merp.tools import cli


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Interrupts strike, also where tests run in the background: there they may be ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Held:
    """Something that a weak reference can be made to."""


def strike_a_finaliser() -> None:
    """Raise the signal within the callback of a weak reference, as compilers' caches have them."""
    held = Held()
    reference = weakref.ref(held, lambda _: signal.raise_signal(signal.SIGINT))
    del held
    assert reference() is None


def work_on(seconds: float) -> None:
    end = monotonic() + seconds
    while monotonic() < end:
        pass


def test_an_interrupt_in_a_finaliser_comes_again(capsys: pytest.CaptureFixture[str]) -> None:
    hook = sys.unraisablehook
    with pytest.raises(KeyboardInterrupt), interrupts_that_last():  # noqa: PT012
        strike_a_finaliser()
        work_on(30)
    assert sys.unraisablehook is hook
    assert capsys.readouterr() == ("", "")


def test_an_interrupt_while_one_is_being_put_off_comes_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a slow machine the next one is there before the first is put off."""
    start = threading.Timer.start
    struck: list[int] = []

    def start_late(timer: threading.Timer) -> None:
        start(timer)
        if not struck:
            struck.append(1)
            work_on(5 * AGAIN)

    monkeypatch.setattr(threading.Timer, "start", start_late)
    with pytest.raises(KeyboardInterrupt), interrupts_that_last():  # noqa: PT012
        strike_a_finaliser()
        work_on(30)
    assert capsys.readouterr() == ("", "")


def test_an_interrupt_of_the_compiler_waits_until_it_is_done(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt), interrupts_that_last():  # noqa: PT012
        with global_compiler_lock:
            with global_compiler_lock:  # what is compiled asks for what it calls
                signal.raise_signal(signal.SIGINT)
                work_on(5 * AGAIN)
            work_on(5 * AGAIN)
            done.append("compiled")
        work_on(30)
        done.append("not interrupted")
    assert done == ["compiled"]
    assert capsys.readouterr() == ("", "")


def test_an_interrupt_waits_until_a_marked_function_is_over() -> None:
    done: list[str] = []

    @uninterrupted
    def take() -> None:
        signal.raise_signal(signal.SIGINT)
        work_on(5 * AGAIN)
        done.append("taken")

    with pytest.raises(KeyboardInterrupt), interrupts_that_last():  # noqa: PT012
        take()
        work_on(30)
        done.append("not interrupted")
    assert done == ["taken"]


def test_an_interrupt_of_who_enters_or_leaves_a_context_waits() -> None:
    """Between the end of ``__enter__`` and the note that ``__exit__`` is due."""
    frames: list[FrameType] = []

    def watch(frame: FrameType, event: str, _: object) -> None:
        if frame.f_code.co_name in ("enter_context", "__exit__"):
            frames.append(frame)

    sys.settrace(watch)
    try:
        with ExitStack() as held:
            held.enter_context(nullcontext())
    finally:
        sys.settrace(None)
    assert [frame.f_code.co_name for frame in frames[:2]] == ["enter_context", "__exit__"]
    for frame in frames:
        lasting = interrupts._Lasting()
        lasting.handle(signal.SIGTERM, frame)
        assert lasting.stop() == signal.SIGTERM
    with pytest.raises(KeyboardInterrupt):
        interrupts._Lasting().handle(signal.SIGTERM, sys._getframe())


def test_a_signal_while_handlers_are_given_back_is_not_lost() -> None:
    code = (
        "import signal, sys\n"
        "from merp.cosim.engines.programs import interrupts\n"
        "given = signal.signal\n"
        "def give(number, how):\n"
        "    if how == signal.SIG_DFL: signal.raise_signal(signal.SIGTERM)\n"
        "    return given(number, how)\n"
        "with interrupts.interrupts_that_last():\n"
        "    signal.signal = give\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (-signal.SIGTERM, "")


def test_where_interrupts_are_ignored_they_stay_so() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupts_that_last():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_an_interrupt_at_the_very_end_is_not_left_to_who_comes_next() -> None:
    with pytest.raises(KeyboardInterrupt), interrupts_that_last():
        strike_a_finaliser()
    work_on(3 * AGAIN)  # nothing strikes here


def test_a_verb_struck_in_a_finaliser_ends_with_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def struck(_: object) -> int:
        strike_a_finaliser()
        work_on(30)
        return 0

    monkeypatch.setattr(cli, "_run", struck)
    assert cli.main(["networks"]) == 130
    assert capsys.readouterr() == ("", "")


def test_a_verb_struck_in_source_that_is_run_from_a_string_ends_with_130(tmp_path: Path) -> None:
    """Classes of records are made so; CPython then ends by the signal, if nobody prevents it."""
    (tmp_path / "struck.py").write_text(
        "import signal, sys\n"
        "from merp.tools import cli\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "struck = 'import signal; signal.raise_signal(signal.SIGINT); held = 0'\n"
        "cli._run = lambda _: exec(struck)\n"
        "sys.exit(cli.main(['networks']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "struck"], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_other_errors_of_finalisers_are_told_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: told.append(lost.exc_type))

    def fail(_: object) -> None:
        raise ValueError

    with interrupts_that_last():
        held = Held()
        reference = weakref.ref(held, fail)
        del held
        assert reference() is None
    assert told == [ValueError]
