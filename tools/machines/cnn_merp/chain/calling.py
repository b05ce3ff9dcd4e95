"""Which process trains, where others simulate boards for it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from merp.tools.train.request import TrainOptions


def calling(asked: TrainOptions) -> AbstractContextManager[bool]:
    """Whether this process trains: with ``--mpi`` the first rank does.

    Raises:
        BadInput: as ``other_ranks``.
    """
    if not asked.mpi:
        return nullcontext(True)
    from merp.cosim.machines.cnn_merp.chain.ranks import other_ranks  # slow imports wait

    return other_ranks()
