"""Run-time registers of a pipeline, except those of its engines."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.register_table import RegisterTable, RunRegister
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.params.pipeline_design import EntranceDesign


@dataclass(frozen=True, kw_only=True)
class PipelineRun:
    """A batch in a pipeline.

    Attributes:
        words: of an image.
        leaving: deltas of an image that the first layer reads.
        losses: deltas of an image that the last layer reads.
        images: of the batch.
        depth: largest number of images in flight.
    """

    words: int
    leaving: int
    losses: int
    images: int
    depth: int


def sum_words(shape: Shape) -> int:
    """Return the words of the sums of a layer, of an image."""
    return shape.out_rows * shape.out_columns * shape.m


def map_words(shape: Shape) -> int:
    """Return the words of the input of a layer, of an image."""
    return shape.rows * shape.columns * shape.n


def output_words(shape: Shape) -> int:
    """Return the words of the output of a layer, of an image."""
    return shape.pooled_rows * shape.pooled_columns * shape.m


_Register = RunRegister[EntranceDesign, PipelineRun]

ADMISSION: RegisterTable[EntranceDesign, PipelineRun] = RegisterTable(
    "admission",
    (
        _Register(
            "images", 1, lambda design: design.max_images, "images of the run",
            lambda run: run.images,
        ),
        _Register(
            "words", 1, lambda design: design.max_words, "map words of an image",
            lambda run: run.words,
        ),
        _Register(
            "leaving", 1, lambda design: design.max_leaving,
            "deltas of an image that the first layer takes, with the last of which it is done",
            lambda run: run.leaving,
        ),
        _Register(
            "depth", 1, lambda design: design.depth, "images on their way at most",
            lambda run: run.depth,
        ),
        _Register(
            "losses", 1, lambda design: design.max_losses,
            "deltas of the run that the last layer takes",
            lambda run: run.images * run.losses,
        ),
    ),
)  # fmt: skip
"""Registers of admission, and of the entrance of the loss's deltas."""
