"""Training on a chain of boards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merp.cosim.machines.cnn_merp.chain.peers import Peers
from merp.cosim.machines.cnn_merp.chain.processes import BoardProcesses
from merp.cosim.machines.cnn_merp.chain.ranks import ranks
from merp.cosim.machines.cnn_merp.chain.step import ClusterStep
from merp.cosim.machines.training.hardware_step import WholeStep
from merp.models.machines.cnn_merp.chain.cut import cut
from merp.models.machines.cnn_merp.chain.cycles import cluster_cycles
from merp.tools.common.progress import Progress
from merp.tools.machines.cnn_merp.at_once.training import AtOnceArithmetic
from merp.tools.machines.cnn_merp.chain.course import MPI, OnBoards
from merp.tools.train.course import Course


class ChainArithmetic(AtOnceArithmetic):
    """Arithmetic of a network on a chain of boards."""

    def hardware(self, course: Course, images: int, progress: Progress) -> ClusterStep:
        """Return the hardware for a step of ``images`` images."""
        own, told = _own(course), (progress.begin, progress.update)
        return ClusterStep(
            course.network, images, own.depth, course.engine, *told,
            devices=own.devices, pace=own.pace, peers=_peers(own),
        )  # fmt: skip

    def said(self, course: Course, images: int, whole: WholeStep) -> Mapping[str, Any]:
        """Return the settings, modelled cycles, and counted and modelled words on the links."""
        own = _own(course)
        shares = cut(course.network, own.devices)
        found = cluster_cycles(course.network, shares, images, own.depth, own.pace)
        return {
            "depth": own.depth,
            "modelled": found.total,
            "devices": own.devices,
            "link_cycles": own.pace,
            "links": [each._asdict() for each in whole.crossings],
            "modelled_words": [
                {"border": border, "way": way, "words": words}
                for (border, way), words in found.words.items()
            ],
        }


def _own(course: Course) -> OnBoards:
    assert isinstance(course.own, OnBoards)
    return course.own


def _peers(own: OnBoards) -> Peers | None:
    """Return the peers that simulate single boards, or None."""
    if own.apart == MPI:
        ranks().wait_for(own.patience)
        return ranks()
    return None if own.apart is None else BoardProcesses(own.patience)
