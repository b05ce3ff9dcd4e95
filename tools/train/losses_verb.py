"""``merp losses``: plot the losses of several training runs in one picture."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merp.models.base.errors import BadInput, shown
from merp.models.base.file_format import TRAINING, check_format
from merp.tools.common import fields
from merp.tools.common.json_file import read_json
from merp.tools.common.json_value import is_list, is_number, is_text, is_whole
from merp.tools.common.kinds import File, Several
from merp.tools.common.output import Output
from merp.tools.common.request import option
from merp.tools.common.table import console, fixed, table
from merp.tools.train.names import step_size

ANSWER = "train.json"
COURSE = "history.json"
FORMATS = (".png", ".svg")
KEYS = ("network", "engine", "steps", "batch", "accumulate", "seed", "loss", "accuracy", "images")


@dataclass(frozen=True, kw_only=True)
class LossesOptions(fields.Tables):
    """The options of the verb."""

    runs: tuple[Path, ...] = option(
        Several(File(), "+"), "folders of merp train -o DIR", "DIR", default=(), required=True
    )
    output: Path = fields.output(
        "file",
        f"output file, {' or '.join(FORMATS)} (default losses.svg)",
        metavar="FILE",
        default=Path("losses.svg"),
    )


REQUEST = LossesOptions


def run(asked: LossesOptions) -> int:
    """Draw the picture, and print the results of the runs."""
    if asked.output.suffix not in FORMATS:
        raise BadInput(f"-o {asked.output}: must end in {' or '.join(FORMATS)}")
    read = [
        (folder, _read(folder)) for folder in asked.runs
    ]  # first, because a folder without a run is refused here
    runs = {_label(folder, asked.runs): answer for folder, answer in read}
    drawn = {_label(folder, asked.runs): _accuracies(folder) for folder in asked.runs}
    accuracies = {label: points for label, points in drawn.items() if points[0]}

    from merp.tools.train.loss_chart import draw, epoch_means

    with Output.of_file("-o", asked.output) as output:
        title = f"loss of training, {len(runs)} runs"
        output.write({output.name: draw(runs, title, asked.output.suffix, accuracies)})
    found = [
        {"run": label, **{key: answer[key] for key in KEYS if key not in ("loss", "images")}}
        | {"last_epoch_loss": epoch_means(answer)[1][-1] if answer["loss"] else None}
        for label, answer in runs.items()
    ]
    if asked.json:
        print(json.dumps({"picture": str(asked.output), "runs": found}, indent=2))
        return 0
    rows = [
        (
            *(each["run"], each["network"], each["engine"]),
            f"{each['steps']:,}",
            step_size(each["batch"], each["accumulate"]),
            f"{each['seed']:,}",
            fixed(each["last_epoch_loss"], 5),
            f"{each['accuracy']:.2%}",
        )
        for each in found
    ]
    columns = ("run", "network", "engine", "steps", "batch", "seed", "loss, last epoch", "accuracy")
    console().print(table(f"Training runs, drawn in {asked.output}", columns, rows, text_columns=3))
    return 0


def _label(folder: Path, runs: Sequence[Path]) -> str:
    """Return the name of the folder, or its whole path if another folder has the same name."""
    alike = [each for each in runs if each.resolve().name == folder.resolve().name]
    return folder.resolve().name if len(alike) == 1 else str(folder)


def _read(folder: Path) -> dict[str, Any]:
    """Read the answer of a run."""
    path = folder / ANSWER
    answer = read_json(path)
    check_format(path, answer, TRAINING)
    if isinstance(answer, dict):
        answer = {"accumulate": 1, **answer}  # older files have none
    missing = [key for key in KEYS if not isinstance(answer, dict) or key not in answer]
    if missing:
        raise BadInput(f"{path}: {missing[0]} is missing: allowed is a file of merp train -o")
    for key in KEYS:
        value = answer[key]
        if not _is_written(key, value):
            raise BadInput(f"{path}: {key} = {shown(value)}: allowed is a value of merp train -o")
    if answer["images"]["trained"] < answer["accumulate"] * answer["batch"]:
        size = step_size(answer["batch"], answer["accumulate"])
        raise BadInput(f"{path}: batch = {size}: must be at most the images trained")
    return dict(answer)


def _accuracies(folder: Path) -> tuple[list[int], list[float]]:
    """Read the accuracies of a run; none if an older merp wrote it.

    Raises:
        BadInput: the file is not one of ``merp train -o``.
    """
    path = folder / COURSE
    if not path.exists():
        return [], []
    found = read_json(path)
    check_format(path, found, TRAINING)
    epochs = found.get("epochs") if isinstance(found, dict) else None
    if not isinstance(epochs, list) or not all(isinstance(each, dict) for each in epochs):
        raise BadInput(f"{path}: epochs: allowed is a list as merp train -o writes it")
    done, steps, accuracies = 0, list[int](), list[float]()
    for epoch in epochs:
        count, accuracy = epoch.get("steps"), epoch.get("validation_accuracy")
        if not is_whole(count, 1) or not (accuracy is None or is_number(accuracy)):
            raise BadInput(f"{path}: epochs: {shown(epoch)}: allowed is a value of merp train -o")
        done += count
        if accuracy is not None:
            steps.append(done)
            accuracies.append(accuracy)
    return steps, accuracies


def _is_written(key: str, value: Any) -> bool:
    """Return whether ``merp train`` could have written ``value`` under ``key``."""
    if key in ("network", "engine"):
        return is_text(value)
    if key == "images":
        return isinstance(value, dict) and is_whole(value.get("trained"), 1)
    if key == "loss":
        return is_list(value, is_number)
    if key == "accuracy":
        return is_number(value)
    return is_whole(value, int(key in ("batch", "accumulate")))
