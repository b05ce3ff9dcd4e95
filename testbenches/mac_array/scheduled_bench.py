"""Combine several passes of the array into one run of its schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np

from merp.hdl.mac_array.phases.scheduled_trainer import scheduled_trainer
from merp.hdl.mac_array.ports.trainer_ports import ScheduledPorts
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.schedule_registers import SCHEDULE, ScheduleRun
from merp.models.machines.mac_array.schedule_words import schedule_words
from merp.testbenches.mac_array.described import described
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top

PORT = "s_axis_schedule"


def scheduled_top(design: ArrayDesign, array: str = "behavioural") -> Top:
    """Return the array with its schedule as a top for the benches."""
    return Top.of(scheduled_trainer, ScheduledPorts(design), {"design": design}, array, described)


def scheduled_run(
    passes: Sequence[Run],
    leaving: Sequence[Mapping[str, int]],
    images: int,
    design: ArrayDesign,
    *,
    load: bool = True,
    stalls: Mapping[str, Sequence[int]] | None = None,
    reset_at: int | None = None,
) -> Run:
    """Combine passes, each given as a run of the trainer, into one run.

    Args:
        passes: the passes of all images, image by image.
        leaving: number of output words of each pass, by output stream.
        images: number of images.
        design: the array.
        load: whether the run loads its schedule; otherwise an earlier run must have loaded it.
        stalls, reset_at: stalls and reset of the run, as in ``Run``.

    Raises:
        ValueError: there are too many passes, or passes of an image differ from the first image's.
    """
    of_image = len(passes) // images
    words = schedule_words([each.config for each in passes[:of_image]], design)
    for image in range(1, images):
        configs = [each.config for each in passes[image * of_image : (image + 1) * of_image]]
        if not np.array_equal(schedule_words(configs, design), words):
            raise ValueError(f"image {image}: its passes differ from those of the first one")
    sent = {
        name: np.concatenate([np.asarray(each.words[name], np.uint64) for each in passes])
        for name in passes[0].words
    }
    sizes = [{name: len(each.words[name]) for name in sent} | dict(out)
             for each, out in zip(passes, leaving, strict=True)]  # fmt: skip
    loaded = words if load else words[:0]
    return Run(
        config=SCHEDULE.values(ScheduleRun(of_image, images, load)),
        words={**sent, PORT: loaded.astype(np.uint64)},
        stalls=stalls or {},
        reset_at=reset_at,
        ends={
            name: ends
            for name in {name for each in sizes for name in each}
            if (ends := _ends([each.get(name, 0) for each in sizes]))
        },
    )


def _ends(sizes: Sequence[int]) -> list[int]:
    """Return the number of words up to the end of each pass that has words."""
    return sorted(set(accumulate(sizes)) - {0})
