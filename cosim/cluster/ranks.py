"""A rank of MPI for every board, on one machine or several: the first is the caller."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from time import sleep
from typing import Any

from merp.cosim.cluster.board_task import serve
from merp.cosim.cluster.peers import Peer
from merp.models.errors import BadInput
from merp.models.given import name_of

POLL_SECONDS = 50e-6  # MPI's own wait would keep a core busy


class Rank:
    """Another rank, as it is spoken to: one speaks, then the other."""

    def __init__(self, world: Any, rank: int) -> None:
        self._world = world
        self._rank = rank
        self._owes = False

    def send(self, message: Any) -> None:
        """Say something; that it is the end, with None."""
        self._world.send(message, self._rank)
        self._owes = True

    def recv(self) -> Any:
        """What it says next.

        Raises:
            EOFError: the end.
        """
        while (found := self._world.improbe(self._rank)) is None:
            sleep(POLL_SECONDS)
        message = found.recv()
        self._owes = False
        if message is None:
            raise EOFError
        return message

    def end(self) -> None:
        """Tell it to end, when it has said what it is about to say."""
        if self._owes:
            self.recv()
        self.send(None)


class Ranks:
    """All ranks but this one."""

    def __init__(self, world: Any) -> None:
        self._others = [Rank(world, rank) for rank in range(1, world.Get_size())]

    @contextmanager
    def that_end_if_it_fails(self, boards: int) -> Iterator[Sequence[Peer]]:
        """As many as boards; ``other_ranks`` ends them, whatever is raised."""
        if len(self._others) != boards:
            raise BadInput(
                f"{name_of('mpi')}: {boards} boards need {boards + 1} ranks, there are "
                f"{len(self._others) + 1}: allowed under mpirun -n {boards + 1}"
            )
        yield self._others

    def end(self) -> None:
        """Tell all to end."""
        for each in self._others:
            each.end()


@cache
def ranks() -> Ranks:
    """Those of this run of MPI.

    Raises:
        BadInput: mpi4py is not installed, or finds no MPI.
    """
    return Ranks(_world())


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
        serve(Rank(world, 0))
        yield False
        return
    try:
        yield True
    finally:
        ranks().end()


def _world() -> Any:
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise BadInput(
            f"{name_of('mpi')}: needs mpi4py and an MPI: pip install 'merp[cluster]'"
        ) from error
    return MPI.COMM_WORLD
