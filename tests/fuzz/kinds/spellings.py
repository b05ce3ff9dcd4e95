"""Damage ONNX models that compute shapes and weights, and spell their nodes as exporters do."""

from random import Random

import onnx_models
import onnx_spellings
from kinds.models import attempt


def spellings(random: Random) -> list[str]:
    """Try a model in another spelling, with one to four changes, in a verb."""
    make = random.choice(
        (onnx_models.random_model, onnx_models.random_branches, onnx_models.random_fires)
    )
    return attempt(random, onnx_spellings.respelt(make(random), random))
