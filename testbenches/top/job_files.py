"""The files through which a bench in another process receives its runs and returns outcomes.

The job folder holds ``job.json`` (ports, limit) and a file ``run<i>.json`` per run. The file of a
run may appear only after the outcome of the previous run, ``outcome<i-1>.json``, has been read.
Therefore the output of one layer can feed the next. After the last run, a file with ``null``
follows. Each file is renamed after it is written, so it appears complete.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from merp.testbenches.top.run import DerivedSource, Run

FOLDER = "MERP_JOB_FOLDER"
POLL_SECONDS = 0.02


def put(path: Path, plain: Any) -> None:
    """Write a JSON file so that it appears complete."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(plain), encoding="ascii")
    part.rename(path)


def run_to_json(run: Run) -> dict[str, Any]:
    """Return a run as plain values for JSON."""
    return {
        "config": dict(run.config),
        "words": {name: words.tolist() for name, words in run.words.items()},
        "stalls": {name: run.pattern(name) for name in run.stalls},
        "reset_at": run.reset_at,
        "answers": {name: asdict(each) for name, each in run.answers.items()},
        "ends": {name: list(each) for name, each in run.ends.items()},
    }


def run_from_json(plain: dict[str, Any]) -> Run:
    """Build a run from the output of ``run_to_json``."""
    words = {name: np.array(values, dtype=np.uint64) for name, values in plain["words"].items()}
    answers = {name: DerivedSource(**each) for name, each in plain["answers"].items()}
    return Run(plain["config"], words, plain["stalls"], plain["reset_at"], answers, plain["ends"])
