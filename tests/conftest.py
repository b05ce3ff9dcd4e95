"""Test session: the tree under test is this one, and the summary counts tests per engine."""

import gc
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from named_options import strange_options
from samples import mark_the_rest

import merp.hdl
from merp.models.base.errors import BadInput
from merp.tools import cli
from merp.tools.common import progress_bar
from merp.tools.common.command_line.verbs import VERBS
from needed_tools import ENGINES, go_without
from terminal import Terminal


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_the_rest(items)


def pytest_collection_finish() -> None:
    """What is there by now stays; to look for garbage in it takes a tenth of the tests' time.

    A design in MyHDL is a million objects that refer to each other: to look through them after
    every few hundred new ones takes another quarter.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 10, 5)


_ran: Counter[str] = Counter()


@pytest.fixture(scope="module")
def network_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The test module's ``NETWORK`` as a file."""
    path = tmp_path_factory.mktemp("network") / "network.toml"
    path.write_text(request.module.NETWORK)
    return path


@pytest.fixture
def impatient() -> Iterator[None]:
    """Fail a test that waits for ever, as for a pipe to which nobody writes."""

    def stop(*_: object) -> None:
        raise TimeoutError("it waits for something that does not come")

    handler = signal.signal(signal.SIGALRM, stop)
    signal.alarm(200)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, handler)


@pytest.fixture
def terminal(capsys: pytest.CaptureFixture[str]) -> Terminal:
    """The command line."""
    return Terminal(capsys)


def _watch_refusals() -> None:
    """Have every refusal of the command line checked: it names options that its verb has."""
    run = cli._run

    def watched(arguments: Sequence[str]) -> int:
        try:
            return run(arguments)
        except BadInput as error:
            verb = next((word for word in arguments if not word.startswith("-")), "")
            strange = strange_options(str(error), verb) if verb in VERBS else []
            if strange:
                raise AssertionError(f"merp {verb} has no {strange}: {error}") from error
            raise

    cli._run = watched


def _end_by_interrupts() -> None:
    """Let SIGINT and SIGHUP end what tests start.

    A program ignores the signals that the process ignores which starts it: a shell's job in the
    background ignores SIGINT, and one under ``nohup`` SIGHUP.
    """
    for number, handler in (
        (signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)
    ):  # fmt: skip
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, handler)


def pytest_configure(config: pytest.Config) -> None:
    _end_by_interrupts()
    _watch_refusals()
    # On a busy machine quick runs are long; what is said of these has a test of its own.
    progress_bar.PATIENCE = 3600.0
    home = Path(merp.hdl.__file__).resolve().parents[1]
    if home != Path(config.rootpath).resolve():
        raise pytest.UsageError(f"merp is installed from {home}, not from {config.rootpath}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    named = [name for mark in item.iter_markers("needs") for name in mark.args]
    go_without([engine for engine in ENGINES if item.get_closest_marker(engine)] + named)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    outcome = yield
    report = outcome.get_result()
    report.user_properties.append(
        ("engine", next((e for e in ENGINES if item.get_closest_marker(e)), "python and myhdl"))
    )


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped:
        _ran["skipped"] += 1
    elif report.when == "call":
        _ran[dict(report.user_properties)["engine"]] += 1


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts = ", ".join(f"{_ran[e]} {e}" for e in ("python and myhdl", *ENGINES))
    terminalreporter.write_line(
        f"tests run per engine: {counts}; {_ran['skipped']} skipped (each with its reason below)"
    )
