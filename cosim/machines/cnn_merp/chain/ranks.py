"""One MPI rank per board, on one machine or several. The first rank is the caller.

Ranks send signs of life from a thread, as processes do, if MPI supports it. The condition is
MPI_THREAD_MULTIPLE, which MPICH and Open MPI provide. A blocked rank cannot be ended alone: MPI
ends all ranks. If the first rank or the launcher dies, the launcher's processes end the others.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache
from time import monotonic, sleep
from typing import Any

from merp.cosim.machines.cnn_merp.chain.beats import ALIVE, BeatPeer, alive, silent
from merp.cosim.machines.cnn_merp.chain.board_task import serve
from merp.cosim.machines.cnn_merp.chain.peers import Peer
from merp.models.base.errors import BadInput, CheckFailed
from merp.models.base.given import name_of
from merp.models.machines.cnn_merp.chain.machine import PATIENCE

POLL_SECONDS = 50e-6  # MPI's own wait would keep a core busy


LOOK_SECONDS = 1.0
"""Maximum seconds that one look adds to a wait.

In the remaining time this process was stopped itself.
"""


class RemoteRank:
    """Another rank, as a partner in a dialogue: each side sends in turn.

    Attributes:
        patience: seconds that it may be silent; None: no limit.
        lost: whether it has been silent for longer.
    """

    def __init__(self, world: Any, rank: int) -> None:
        self.patience: float | None = None
        self.lost = False
        self._world = world
        self._rank = rank
        self._owes = False

    def send(self, message: Any) -> None:
        """Send a message; None announces the end.

        Raises:
            CheckFailed: the rank accepts nothing for too long.
        """
        sent = self._world.isend(message, self._rank)
        self._owes = True
        self._await(lambda: sent.test()[0] or None)

    def recv(self) -> Any:
        """Return the next message of the rank.

        Raises:
            EOFError: the rank has announced the end.
            CheckFailed: the rank has been silent for too long.
        """
        while (message := self._await(lambda: self._world.improbe(self._rank)).recv()) == ALIVE:
            pass
        self._owes = False
        if message is None:
            raise EOFError
        return message

    def end(self) -> None:
        """Ask the rank to end, after it has sent its current message.

        This method waits for the rank's end, because MPI fails if a message, such as a sign of
        life, is never received.
        """
        if self._owes:
            self.recv()
        self.send(None)
        with suppress(EOFError):
            self.recv()

    def _await(self, look: Callable[[], Any]) -> Any:
        """Call ``look`` until its result is not None. Return the result."""
        waited, before = 0.0, monotonic()
        while (found := look()) is None:
            sleep(POLL_SECONDS)
            now = monotonic()
            waited, before = waited + min(now - before, LOOK_SECONDS), now
            if self.patience is not None and waited > self.patience:
                self.lost = True
                raise CheckFailed(silent(self._rank - 1, f"rank {self._rank}", self.patience))
        return found


class Ranks:
    """All ranks except this one."""

    def __init__(self, world: Any) -> None:
        self._world = world
        self._beat = _may_beat()
        self._others = [RemoteRank(world, rank) for rank in range(1, world.Get_size())]

    @contextmanager
    def that_end_if_it_fails(self, boards: int) -> Iterator[Sequence[Peer]]:
        """Yield as many ranks as boards. ``other_ranks`` ends them after any exception."""
        if len(self._others) != boards:
            raise BadInput(
                f"{name_of('mpi')}: {boards} boards need {boards + 1} ranks, there are "
                f"{len(self._others) + 1}: allowed under mpirun -n {boards + 1}"
            )
        yield self._others

    def wait_for(self, seconds: float) -> None:
        """Set the maximum silence of each rank, if ranks can send signs of life."""
        for each in self._others:
            each.patience = seconds if self._beat else None

    def end(self) -> None:
        """Ask all ranks to end. If one is blocked, MPI ends all ranks when this process ends."""
        try:
            for each in self._others:
                if each.lost:
                    raise CheckFailed
                each.end()
        except CheckFailed:
            atexit.register(_abort, self._world)


def _abort(world: Any) -> None:
    sys.stdout.flush()
    world.Abort(1)


@cache
def ranks() -> Ranks:
    """Return the ranks of this run of MPI.

    Raises:
        BadInput: mpi4py is not installed, or it finds no MPI.
    """
    found = Ranks(_world())
    found.wait_for(PATIENCE)
    return found


@contextmanager
def other_ranks() -> Iterator[bool]:
    """Yield whether this rank is the caller. The other ranks have then run their boards.

    A keyboard interrupt reaches only the caller.

    Raises:
        BadInput: mpi4py is not installed, or it finds no MPI.
    """
    world = _world()
    if world.Get_rank():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        first = RemoteRank(world, 0)
        signs: AbstractContextManager[BeatPeer] = (
            alive(first) if _may_beat() else nullcontext(first)
        )
        with signs as caller:
            serve(caller)
        first.send(None)
        yield False
        return
    try:
        yield True
    finally:
        ranks().end()


def _may_beat() -> bool:
    """Return whether a thread may send while another one waits."""
    from mpi4py import MPI

    may: bool = MPI.Query_thread() == MPI.THREAD_MULTIPLE
    return may


def _world() -> Any:
    # merp reports the failure in one line
    os.environ.setdefault("MPIR_CVAR_SUPPRESS_ABORT_MESSAGE", "1")
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise BadInput(
            f"{name_of('mpi')}: needs mpi4py and an MPI: pip install 'merp[cluster]'"
        ) from error
    return MPI.COMM_WORLD
