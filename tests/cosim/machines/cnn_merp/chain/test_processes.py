"""A chain whose boards are simulated by a process each: the record of one simulation."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from clusters import batch_on, small_cut, train
from trained import same

from marks import in_full
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import RunRecord
from merp.cosim.engines.verilator_build import EXECUTABLE
from merp.cosim.machines.cnn_merp.chain import apart, beats, processes
from merp.cosim.machines.cnn_merp.chain.apart import run_apart
from merp.cosim.machines.cnn_merp.chain.batch import ClusterBatch
from merp.cosim.machines.cnn_merp.chain.processes import BoardProcesses
from merp.models.base.errors import CheckFailed
from merp.models.network.network import Network
from merp.testbenches.top.run import Stuck
from merp.tools.common.shipped import open_network

LIMIT = 3000


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Network:
    return small_cut(tmp_path_factory.mktemp("cut"))


def run_boards(batch: ClusterBatch, engine: str = "myhdl") -> RunRecord:
    return run_apart(batch, "behavioural", engine, LIMIT, BoardProcesses())


def check_same(batch: ClusterBatch, engine: str = "myhdl") -> None:
    """All counts on ports, cycles and bits of the boards are those of the chain in one piece."""
    top = batch.hardware.top("behavioural")
    (one,) = run_job(Job(top, [batch.run], limit=LIMIT), "myhdl")
    several = run_boards(batch, engine)
    assert several.differences(one) == []
    assert batch.failures(several) == []


STALLS = {
    "s_axis_map": (1, 0, 0), "m_axis_map": (0, 0, 0, 1), "s_axis_share2_fp_kernel": (1, 0),
    "m_axis_share3_ku_kernel": (0, 1, 1), "s_axis_delta": (0, 1),
}  # fmt: skip
"""At pins of every board, which several of them share no cycle of."""


@pytest.mark.full
def test_the_record_is_that_of_one_simulation(network: Network) -> None:
    batch = batch_on(network, 3, pace=4)
    check_same(replace(batch, run=replace(batch.run, stalls=STALLS)))


@pytest.mark.full
@pytest.mark.verilator
def test_the_record_is_that_of_one_simulation_in_verilator(network: Network) -> None:
    batch = batch_on(network, 3, pace=4)
    check_same(replace(batch, run=replace(batch.run, stalls=STALLS)), "verilator")
    check_same(replace(batch, run=replace(batch.run, reset_at=301)), "verilator")


@pytest.mark.full
@pytest.mark.parametrize("devices", [1, 2, 5])
def test_on_any_number_of_boards(network: Network, devices: int) -> None:
    check_same(batch_on(network, devices))


@pytest.mark.full
@pytest.mark.parametrize("pace", [1, 4])
def test_tiny3_on_three_boards(pace: int) -> None:
    check_same(batch_on(open_network("tiny3"), 3, pace=pace, momentum=0.9))


@pytest.mark.full
def test_a_reset_comes_to_all_boards_at_once(network: Network) -> None:
    batch = batch_on(network, 3)
    check_same(replace(batch, run=replace(batch.run, reset_at=301)))


@pytest.mark.full
def test_steps_have_the_goldens_bits(network: Network) -> None:
    found = train(network, 3, 3, pace=2, steps=2, momentum=0.9, processes=True)
    assert same(found)


@pytest.mark.full
def test_a_chain_that_stands_still_tells_of_it_as_one(network: Network) -> None:
    """In the same cycle, with the same status of all boards; the last one gives no scores."""
    batch = batch_on(network, 3)
    stuck = replace(batch, run=replace(batch.run, answers={}, words=without_loss(batch)))
    with pytest.raises(Stuck) as several:
        run_boards(stuck)
    with pytest.raises(Stuck) as one:
        run_job(Job(batch.hardware.top("behavioural"), [stuck.run], limit=LIMIT), "myhdl")
    assert several.value.status == one.value.status


def without_loss(batch: ClusterBatch) -> dict[str, Any]:
    words = dict(batch.run.words)
    return words | {"s_axis_delta": words["s_axis_delta"][:3]}


@pytest.fixture
def boards(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The processes of a run, by board, as they are started."""
    started: list[Any] = []

    class Seen(processes._Board):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            started.append(self._process)

    monkeypatch.setattr(processes, "_Board", Seen)
    return started


def test_a_process_that_ends_is_told_in_one_line(
    network: Network, boards: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "PROGRAM", "platform")  # it says something else, and ends
    with pytest.raises(CheckFailed) as failed:
        run_boards(batch_on(network, 3))
    assert str(failed.value) == "the process of node 0 ended with status 0 before its time"
    assert len(boards) == 3
    assert all(each.returncode is not None for each in boards)


@pytest.mark.full
def test_a_process_that_is_killed_takes_the_others_with_it(
    network: Network, boards: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_window(monkeypatch, 5, lambda: boards[1].kill())
    with pytest.raises(CheckFailed) as failed:
        run_boards(batch_on(network, 3))
    assert str(failed.value) == "the process of node 1 ended by signal 9 before its time"
    assert all(each.returncode is not None for each in boards)


@pytest.mark.full
@pytest.mark.verilator
def test_a_simulation_that_is_killed_is_told_in_one_line(
    network: Network, boards: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The board's process lives on, and tells of it."""

    def kill() -> None:
        pid = boards[1].pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        # Beside the simulation a shell waits, which ends it if the board's process dies.
        (child,) = (
            each for each in children if Path(f"/proc/{each}/exe").resolve().name == EXECUTABLE
        )
        os.kill(int(child), signal.SIGKILL)

    at_window(monkeypatch, 5, kill)
    with pytest.raises(CheckFailed) as failed:
        run_boards(batch_on(network, 3), "verilator")
    assert str(failed.value) == "node 1: the simulation was ended by signal 9"
    assert all(each.returncode is not None for each in boards)


@pytest.mark.parametrize("way", ["recv", *in_full("send")])
def test_a_board_that_stands_still_is_named_and_ended(boards: list[Any], way: str) -> None:
    """Whether it is to say something, or to take more than its socket holds."""
    peers = BoardProcesses(3)
    with peers.that_end_if_it_fails(2) as both:  # as the caller of a run
        boards[1].send_signal(signal.SIGSTOP)
    with pytest.raises(CheckFailed) as failed, peers.that_end_if_it_fails(2):
        both[1].recv() if way == "recv" else both[1].send(bytes(1 << 23))  # type: ignore[arg-type]
    assert str(failed.value) == (
        f"node 1 does not respond: its process {boards[1].pid} has given no sign of life for 3 s"
    )
    assert all(each.returncode is not None for each in boards)


def test_a_board_says_that_it_is_alive_while_it_says_nothing_else() -> None:
    with BoardProcesses().that_end_if_it_fails(1) as boards:
        heard = boards[0]._connection.recv  # type: ignore[attr-defined]
        assert [heard() for _ in range(3)] == [beats.ALIVE] * 3


@pytest.mark.full
def test_an_interrupt_ends_all(
    network: Network, boards: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt() -> None:  # as its signal does, which workers of pytest do not get
        raise KeyboardInterrupt

    at_window(monkeypatch, 5, interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_boards(batch_on(network, 3))
    assert all(each.returncode is not None for each in boards)


def at_window(monkeypatch: pytest.MonkeyPatch, number: int, do: Any) -> None:
    """Do something while the boards wait for what comes to them in a window."""
    come, windows = apart._Wiring.come, [0]

    def counted(self: Any, lefts: Any) -> Any:
        windows[0] += 1
        if windows[0] == number:
            do()
        return come(self, lefts)

    monkeypatch.setattr(apart._Wiring, "come", counted)


@pytest.mark.full
def test_boards_end_with_a_caller_that_was_killed(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        f"import sys\nsys.path[:0] = {sys.path!r}\n"
        "from pathlib import Path\n"
        "from clusters import batch_on, small_cut\n"
        "from merp.cosim.machines.cnn_merp.chain import apart, processes\n"
        "come, start = apart._Wiring.come, processes._Board.__init__\n"
        "pids, windows = [], []\n"
        "def started(self, *given):\n"
        "    start(self, *given)\n"
        "    pids.append(self._process.pid)\n"
        "def counted(self, lefts):\n"
        "    windows.append(1)\n"
        "    if len(windows) == 5:\n"
        "        print(*pids, flush=True)\n"
        "    return come(self, lefts)\n"
        "processes._Board.__init__, apart._Wiring.come = started, counted\n"
        "made = batch_on(small_cut(Path(sys.argv[1])), 3)\n"
        "apart.run_apart(made, 'behavioural', 'myhdl', 3000, processes.BoardProcesses())\n"
    )
    caller = subprocess.Popen(
        [sys.executable, program, tmp_path],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert caller.stdout is not None
    pids = [int(pid) for pid in caller.stdout.readline().split()]
    caller.kill()
    _, said = caller.communicate()
    assert len(pids) == 3
    assert said == ""
    for pid in pids:
        while alive(pid):
            time.sleep(0.1)


def test_a_board_that_stands_still_ends_with_a_caller_that_was_killed(tmp_path: Path) -> None:
    program = (
        "import os, signal, time\n"
        "from merp.cosim.machines.cnn_merp.chain.processes import BoardProcesses\n"
        "with BoardProcesses().that_end_if_it_fails(2) as boards:\n"
        "    pids = [board._process.pid for board in boards]\n"
        "    os.kill(pids[1], signal.SIGSTOP)\n"
        "    print(*pids, flush=True)\n"
        "    time.sleep(600)\n"
    )
    caller = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert caller.stdout is not None
    pids = [int(pid) for pid in caller.stdout.readline().split()]
    caller.kill()
    caller.communicate()
    assert len(pids) == 2
    while any(alive(pid) for pid in pids):
        time.sleep(0.1)


def alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has waited for does not."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
