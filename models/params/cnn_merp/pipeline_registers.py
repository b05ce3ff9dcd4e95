"""Run-time registers of a pipeline beside those of its engines."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.params.cnn_merp.pipeline_design import PipelineDesign
from merp.models.params.register_table import RegisterTable, RunRegister
from merp.models.params.shape import Shape


@dataclass(frozen=True, kw_only=True)
class PipelineRun:
    """A batch in a pipeline.

    Attributes:
        first, last: shapes of these layers. images: of the batch. depth: on their way at most.
    """

    first: Shape
    last: Shape
    images: int
    depth: int


def sum_words(shape: Shape) -> int:
    """Words of the sums of a layer, of an image."""
    return shape.out_rows * shape.out_columns * shape.m


def map_words(shape: Shape) -> int:
    """Words of the input of a layer, of an image."""
    return shape.rows * shape.columns * shape.n


_Register = RunRegister[PipelineDesign, PipelineRun]

ADMISSION: RegisterTable[PipelineDesign, PipelineRun] = RegisterTable(
    "admission",
    (
        _Register(
            "images", 1, lambda design: design.max_images, "images of the run",
            lambda run: run.images,
        ),
        _Register(
            "words", 1, lambda design: design.max_words, "map words of an image",
            lambda run: map_words(run.first),
        ),
        _Register(
            "leaving", 1, lambda design: design.max_leaving,
            "deltas of the first layer's sums of an image, with the last of which it is done",
            lambda run: sum_words(run.first),
        ),
        _Register(
            "depth", 1, lambda design: design.depth, "images on their way at most",
            lambda run: run.depth,
        ),
        _Register(
            "losses", 1, lambda design: design.max_losses,
            "deltas of the last layer's sums of the run",
            lambda run: run.images * sum_words(run.last),
        ),
    ),
)  # fmt: skip
"""Of admission, and of the entrance of what the loss gives."""
