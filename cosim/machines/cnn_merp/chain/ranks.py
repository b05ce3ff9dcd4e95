"""A rank of MPI for every board, on one machine or several: the first is the caller.

Ranks give signs of life as processes do, from a thread, if MPI allows it (MPI_THREAD_MULTIPLE,
as MPICH and Open MPI do). A rank that stands still cannot be ended alone: MPI ends all of them. If
the first rank dies, or the launcher, the launcher's processes end the others.
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
"""Of a wait at most count between two looks: in the rest, this process was stopped itself."""


class RemoteRank:
    """Another rank, as it is spoken to: one speaks, then the other.

    Attributes:
        patience: seconds that it may be silent; None: there is no limit.
        lost: it has been silent for longer.
    """

    def __init__(self, world: Any, rank: int) -> None:
        self.patience: float | None = None
        self.lost = False
        self._world = world
        self._rank = rank
        self._owes = False

    def send(self, message: Any) -> None:
        """Say something; that it is the end, with None.

        Raises:
            CheckFailed: it takes nothing for too long.
        """
        sent = self._world.isend(message, self._rank)
        self._owes = True
        self._await(lambda: sent.test()[0] or None)

    def recv(self) -> Any:
        """What it says next.

        Raises:
            EOFError: the end.
            CheckFailed: it has been silent for too long.
        """
        while (message := self._await(lambda: self._world.improbe(self._rank)).recv()) == ALIVE:
            pass
        self._owes = False
        if message is None:
            raise EOFError
        return message

    def end(self) -> None:
        """Tell it to end, when it has said what it is about to say.

        Its own end is waited for: MPI fails where a message, a sign of life, was never received.
        """
        if self._owes:
            self.recv()
        self.send(None)
        with suppress(EOFError):
            self.recv()

    def _await(self, look: Callable[[], Any]) -> Any:
        """What ``look`` finds, as soon as it is no longer None."""
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
    """All ranks but this one."""

    def __init__(self, world: Any) -> None:
        self._world = world
        self._beat = _may_beat()
        self._others = [RemoteRank(world, rank) for rank in range(1, world.Get_size())]

    @contextmanager
    def that_end_if_it_fails(self, boards: int) -> Iterator[Sequence[Peer]]:
        """As many as boards; ``other_ranks`` ends them, whatever is raised."""
        if len(self._others) != boards:
            raise BadInput(
                f"{name_of('mpi')}: {boards} boards need {boards + 1} ranks, there are "
                f"{len(self._others) + 1}: allowed under mpirun -n {boards + 1}"
            )
        yield self._others

    def wait_for(self, seconds: float) -> None:
        """Set how long each may be silent, if they can give signs of life."""
        for each in self._others:
            each.patience = seconds if self._beat else None

    def end(self) -> None:
        """Tell all to end; where one stands still, MPI ends all when this process does."""
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
    """Those of this run of MPI.

    Raises:
        BadInput: mpi4py is not installed, or finds no MPI.
    """
    found = Ranks(_world())
    found.wait_for(PATIENCE)
    return found


@contextmanager
def other_ranks() -> Iterator[bool]:
    """Whether this rank is the caller. The others have played their boards when they are told.

    What strikes the keyboard strikes the caller alone.

    Raises:
        BadInput: mpi4py is not installed, or finds no MPI.
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
    """Whether a thread may speak while another one waits."""
    from mpi4py import MPI

    may: bool = MPI.Query_thread() == MPI.THREAD_MULTIPLE
    return may


def _world() -> Any:
    os.environ.setdefault("MPIR_CVAR_SUPPRESS_ABORT_MESSAGE", "1")  # what failed is said in a line
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise BadInput(
            f"{name_of('mpi')}: needs mpi4py and an MPI: pip install 'merp[cluster]'"
        ) from error
    return MPI.COMM_WORLD
