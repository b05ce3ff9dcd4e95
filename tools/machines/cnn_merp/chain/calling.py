"""Which process trains if other processes simulate boards for it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from merp.tools.train.request import TrainOptions


def calling(asked: TrainOptions) -> AbstractContextManager[bool]:
    """Yield whether this process trains. With ``--mpi`` only the first rank does.

    Raises:
        BadInput: as in ``other_ranks``.
    """
    if not asked.mpi:
        return nullcontext(True)
    from merp.cosim.machines.cnn_merp.chain.ranks import other_ranks  # slow imports, therefore late

    return other_ranks()
