"""A network and images that train in a moment, and ``merp train`` on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from merp.tools import cli

NETWORK = """
[network]
name = "small"
input = { rows = 4, columns = 5, channels = 2 }
[[layer]]
name = "conv1"
maps = 3
kernel = 2
pool = { kind = "max", window = 2, stride = 1 }
[[layer]]
name = "fc2"
maps = 3
relu = false
"""
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


def run(capsys: Any, folder: Path, *options: str | Path) -> tuple[int, str, str]:
    """``merp train`` on the network and its images: status, output, complaints."""
    network, data = str(folder / "small.toml"), str(folder / "data.npz")
    arguments = ["train", network, "--data", data, *SHORT, *map(str, options)]
    try:
        status = cli.main(arguments)
    except SystemExit as stop:
        status = int(stop.code or 0)
    out, err = capsys.readouterr()
    return status, out, err


def answer(capsys: Any, folder: Path, *options: str | Path) -> dict[str, Any]:
    """What it answers with ``--json``; no complaint."""
    status, out, err = run(capsys, folder, *options, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


def refusal(capsys: Any, folder: Path, *options: str | Path) -> str:
    """The one line of a bad input."""
    status, out, err = run(capsys, folder, *options)
    assert (status, out) == (2, "")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    return err
