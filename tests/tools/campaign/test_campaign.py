"""Campaigns: each task once, whoever is killed, and the same answers wherever they come from."""

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread, Timer
from time import monotonic, sleep
from typing import Any

import pytest

from campaign_work import deadly, square, stopping
from checkout import ROOT
from merp.cosim.engines.programs import pulse
from merp.models.base.errors import CheckFailed
from merp.tools.cli import main
from merp.tools.common.output import Output
from merp.tools.common.progress import Progress
from merp.tools.comparison.campaign import task as task_module
from merp.tools.comparison.campaign.address import scheduler_address
from merp.tools.comparison.campaign.campaign import Where, campaign
from merp.tools.comparison.campaign.task import Task
from needed_tools import needs

HERE = Where(processes=1)


def tasks(
    log: Path, count: int = 5, work: Callable[[Mapping[str, Any]], Any] = square, **more: object
) -> list[Task]:
    return [
        Task(work=work, given={"of": each, "log": str(log), **more}) for each in range(count)
    ]  # fmt: skip


def done(log: Path) -> list[int]:
    return sorted(int(line) for line in log.read_text().split())


def run(some: list[Task], folder: Path | None = None, where: Where = HERE) -> list[Any]:
    if folder is None:
        return campaign(some, where, None, Progress())
    with Output.of_folder("-o", folder) as output:
        return campaign(some, where, output, Progress())


def test_a_task_is_named_by_all_that_its_answer_depends_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = tasks(tmp_path / "log", 2)
    names = {one.name, other.name, Task(work=deadly, given=one.given).name}
    names.add(Task(work=square, given=one.given, tools={"yosys": "1"}).name)
    again = Task(work=square, given=dict(reversed(one.given.items())))
    assert again.name == one.name
    monkeypatch.setattr(task_module, "made_by", lambda: {"version": "0", "sources": ""})
    names.add(one.name)
    assert len(names) == 5


def test_what_is_finished_is_not_computed_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    plain = run(tasks(log))
    assert plain[4] == {"square": 16, "third": 4 / 3}
    log.unlink()
    folder = tmp_path / "out"
    assert run(tasks(log, 3), folder) == plain[:3]
    assert run(tasks(log), folder) == plain
    assert run(tasks(log), folder) == plain
    assert done(log) == [0, 1, 2, 3, 4]
    assert len(list((folder / "finished").iterdir())) == 5


@pytest.mark.parametrize("damage", ["", "{}", "[]", "not JSON", "another", "forged"])
def test_a_damaged_file_is_computed_again_and_said_to_be(
    damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, folder = tmp_path / "log", tmp_path / "out"
    some = tasks(log, 2)
    plain = run(some, folder)
    paths = [folder / "finished" / f"{task.name}.json" for task in some]
    before = paths[0].read_text()
    text = {"another": paths[1].read_text(), "forged": before.replace('"square": 0', '"square": 1')}
    paths[0].write_text(text.get(damage, damage))
    assert run(some, folder) == plain
    assert f"{paths[0]}: damaged: it is computed again" in capsys.readouterr().err
    assert done(log) == [0, 0, 1]
    assert paths[0].read_text() == before


def test_a_worker_that_dies_is_replaced(tmp_path: Path, impatient: None) -> None:
    log = tmp_path / "log"
    found = run(tasks(log, work=deadly), tmp_path / "out", Where(processes=2))
    assert found == run(tasks(tmp_path / "other"))
    assert set(done(log)) == {0, 1, 2, 3, 4}
    assert done(log).count(2) == 2


def test_a_worker_that_stands_still_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulse, "STILL_SECONDS", 3)
    log = tmp_path / "log"
    found = run(tasks(log, work=stopping), tmp_path / "out", Where(processes=2))
    assert found == run(tasks(tmp_path / "other"))
    assert done(log).count(2) == 2


def test_a_task_that_always_kills_is_told(tmp_path: Path, impatient: None) -> None:
    log = tmp_path / "log"
    with pytest.raises(CheckFailed, match="workers die at them: 3 times in a row") as told:
        run(tasks(log, work=deadly, always=True), tmp_path / "out", Where(processes=2))
    kept = len(list((tmp_path / "out" / "finished").iterdir()))
    assert str(told.value).startswith(f"{5 - kept} tasks are left")
    assert 2 <= kept <= 4


def test_a_killed_campaign_goes_on(tmp_path: Path, impatient: None) -> None:
    """Killed in its middle; no task that had a file is done again, and the bytes are the same."""
    log, folder = tmp_path / "log", tmp_path / "out"
    program = (
        f"import sys; sys.path[:0] = [{str(ROOT / 'tests' / 'house')!r}]\n"
        "from pathlib import Path\nfrom campaign_work import square\n"
        "from merp.tools.comparison.campaign.campaign import Where, campaign\n"
        "from merp.tools.comparison.campaign.task import Task\n"
        "from merp.tools.common.output import Output\n"
        "from merp.tools.common.progress import Progress\n"
        f"some = [Task(work=square, given={{'of': each, 'log': {str(log)!r}, 'seconds': 0.2}})\n"
        "        for each in range(10)]\n"
        f"with Output.of_folder('-o', Path({str(folder)!r})) as output:\n"
        "    campaign(some, Where(processes=1), output, Progress())\n"
    )
    killed = subprocess.Popen([sys.executable, "-c", program])
    kept = folder / "finished"
    limit = monotonic() + 60
    while not (kept.is_dir() and len(list(kept.iterdir())) > 3) and monotonic() < limit:
        sleep(0.05)
    killed.kill()
    killed.wait()
    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    assert 3 < len(before) < 10
    begun = done(log)
    some = tasks(log, 10, seconds=0.2)
    found = run([Task(work=square, given={**task.given}) for task in some], folder)
    assert found == [{"square": each**2, "third": each / 3} for each in range(10)]
    again = {each for each in range(10) if done(log).count(each) > 1}
    finished = {each for each, task in enumerate(some) if f"{task.name}.json" in before}
    assert not again & finished
    assert again <= set(begun) - finished
    for name, content in before.items():
        assert (kept / name).read_bytes() == content
    other = tmp_path / "other"
    run(some, other)
    for path in kept.iterdir():
        assert (other / "finished" / path.name).read_bytes() == path.read_bytes()


def test_an_answer_is_what_its_file_says(tmp_path: Path) -> None:
    (task,) = tasks(tmp_path / "log", 1)
    (answer,) = run([task], tmp_path / "out")
    kept = json.loads((tmp_path / "out" / "finished" / f"{task.name}.json").read_text())
    assert kept["answer"] == answer
    assert kept["task"] == task.name


@pytest.mark.parametrize(
    "address",
    [
        "", "127.0.0.1", "tcp://127.0.0.1", "tcp://127.0.0.1:0", "tcp://127.0.0.1:99999",
        "tcp://127.0.0.1:x", "tcp://:8786", "tcp://::1:8786", "tcp://[::1]", "tcp://a b:1", " ",
        "tcp://h:1/path", "tcp://user@h:1", "tcp://h:1\n", "ucx://h:8786", "ws://h:8786",
        "inproc://1/2", "://h:1", "tcp://tcp://h:1",
    ],
)  # fmt: skip
def test_an_address_that_cannot_be_is_refused(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["sweep", "tiny3", "--over", "n_cu=1,2", "--dask", address])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "argument --dask: " in line
    assert "allowed is a scheduler, as tcp://HOST:8786" in line


def test_an_address_says_its_scheme() -> None:
    assert scheduler_address("127.0.0.1:8786") == "tcp://127.0.0.1:8786"
    for address in ("tcp://[::1]:8786", "tls://node-1.example:1", "tcp://h:65535"):
        assert scheduler_address(address) == address


@pytest.mark.full
@needs("distributed")
@pytest.mark.parametrize("says", [None, b"", b"HTTP/1.1 400 Bad Request\r\n\r\n" * 9])
def test_a_port_without_a_scheduler_is_told(
    says: bytes | None, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It accepts, and then is silent, closes, or says something else."""
    from merp.tools.comparison.campaign import dask

    monkeypatch.setattr(dask, "CONNECT_SECONDS", 1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        taken: list[socket.socket] = []

        def take() -> None:
            with suppress(OSError):
                while True:
                    taken.append(server.accept()[0])
                    if says is not None:
                        taken[-1].sendall(says)
                        taken[-1].close()

        Thread(target=take, daemon=True).start()
        assert main(["sweep", "tiny3", "--over", "n_cu=1,2", "--json", "--dask", address]) == 2
        server.shutdown(socket.SHUT_RDWR)
    printed, said = capfd.readouterr()
    lines = [line for line in said.splitlines() if not line.startswith("merp sweep: ")]
    assert printed == ""
    assert len(lines) == 1
    assert lines[0].startswith(f"merp: --dask {address}: ")
    assert "allowed is " in lines[0]
    for each in taken:
        each.close()


@pytest.mark.full
@needs("distributed")
def test_tls_needs_certificates(capfd: pytest.CaptureFixture[str]) -> None:
    status = main(["sweep", "tiny3", "--over", "n_cu=1,2", "--dask", "tls://127.0.0.1:8786"])
    assert status == 2
    assert "needs distributed.comm.tls.client in Dask's configuration" in capfd.readouterr().err


@pytest.mark.full
@needs("distributed")
def test_a_scheduler_without_workers_and_one_that_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import LocalCluster

    from merp.models.base.errors import BadInput
    from merp.tools.comparison.campaign import dask

    monkeypatch.setattr(dask, "PATIENCE", 3)
    monkeypatch.setattr(dask, "LOOK_SECONDS", 0.5)
    log = tmp_path / "log"
    options: dict[str, Any] = {
        "host": "127.0.0.1", "threads_per_worker": 1, "dashboard_address": None,
        "local_directory": str(tmp_path / "dask"),
    }  # fmt: skip
    with LocalCluster(n_workers=0, **options) as cluster:
        where = Where(processes=1, dask=cluster.scheduler_address)
        with pytest.raises(BadInput, match="the scheduler has had no workers for 3 s"):
            run(tasks(log), None, where)
    monkeypatch.setattr(dask, "PATIENCE", 600)
    cluster = LocalCluster(n_workers=1, **options)
    where = Where(processes=1, dask=cluster.scheduler_address)
    ending = Timer(2, cluster.close)
    ending.start()
    with pytest.raises(CheckFailed, match="the scheduler does not answer any more"):
        run(tasks(log, seconds=60), None, where)
    ending.join()


@pytest.mark.full
@needs("distributed")
def test_dask_gives_the_same_and_refuses_another_merp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import LocalCluster

    from merp.models.base.errors import BadInput
    from merp.tools.comparison.campaign import dask

    log = tmp_path / "log"
    with LocalCluster(
        host="127.0.0.1", n_workers=2, threads_per_worker=1, dashboard_address=None,
        local_directory=str(tmp_path / "dask"),
    ) as cluster:  # fmt: skip
        where = Where(processes=1, dask=cluster.scheduler_address)
        assert run(tasks(log), tmp_path / "out", where) == run(tasks(tmp_path / "other"))
        assert done(log) == [0, 1, 2, 3, 4]
        monkeypatch.setattr(dask, "made_by", lambda: {"version": "0.0", "sources": "0"})
        with pytest.raises(BadInput, match="allowed is the same merp"):
            run(tasks(log), None, where)
