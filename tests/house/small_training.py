"""A network and images that train in a moment, and ``merp train`` on them."""

from pathlib import Path
from typing import Any

import numpy as np

from network_text import layer, max_pool, network_text
from terminal import Ended, Terminal

NETWORK = network_text(
    "small",
    (4, 5, 2),
    layer("conv1", 3, kernel=2, pool=max_pool(2, 1)),
    layer("fc2", 3, relu=False),
)
SHORT = ("--batch", "4", "--lr", "0.1")


def laid(folder: Path) -> Path:
    """A network in ``folder``, and 20 images whose class is where they are bright."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 20)
    images = rng.uniform(0, 0.3, (20, 4, 5, 2))
    images[np.arange(20), labels, labels] += 1
    (folder / "small.toml").write_text(NETWORK)
    np.savez(folder / "data.npz", images=images, labels=labels)
    return folder


class SmallTraining:
    """``merp train`` on the network and its images in a folder."""

    def __init__(self, terminal: Terminal, folder: Path) -> None:
        self._terminal, self.folder = terminal, laid(folder)
        self._words = ("train", folder / "small.toml", "--data", folder / "data.npz", *SHORT)

    def run(self, *options: object) -> Ended:
        """How it ends."""
        return self._terminal.run(*self._words, *options)

    def answer(self, *options: object) -> Any:
        """What it answers with ``--json``; no complaint."""
        return self._terminal.answer(*self._words, *options)

    def refusal(self, *options: object) -> str:
        """The one line of a bad input."""
        return self._terminal.refusal(*self._words, *options)
