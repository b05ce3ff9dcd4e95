"""The host's loss: values by hand, and the delta as its derivative."""

import math

import numpy as np
import pytest

import binary64
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.formats import BFLOAT16, BINARY32
from merp.models.golden.loss import LOSSES, loss


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("fmt", [BINARY32, BFLOAT16], ids=["binary32", "bfloat16"])
def test_delta_is_the_derivative_of_the_sum_rounded_once(kind: str, fmt) -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 7, 5)
    output = to_bits(rng.standard_normal((5, 1, 1, 7)) * 3, fmt)
    scores = to_values(output, fmt).reshape(5, 7)
    value, delta = loss(kind, output, labels, fmt)
    assert delta.shape == output.shape
    assert value == pytest.approx(binary64.loss(kind, scores, labels) / 5, rel=1e-12)
    # Of squares they are exact at any step, so that a coarse one, which rounds less, is right.
    step = 1e-6 if kind == "cross-entropy" else 2.0**-10
    numeric = binary64.central_differences(
        lambda: binary64.loss(kind, scores, labels), scores, step
    )
    half_ulp = 2.0 ** -(fmt.frac_bits + 1)
    np.testing.assert_allclose(
        to_values(delta, fmt).reshape(5, 7), numeric, rtol=half_ulp, atol=1e-8
    )


def test_losses_by_hand() -> None:
    output = to_bits([[0.0, math.log(3)], [0.0, 0.0]], BINARY32).reshape(2, 1, 1, 2)
    value, delta = loss("cross-entropy", output, np.array([0, 1]), BINARY32)
    assert value == pytest.approx((math.log(4) + math.log(2)) / 2, rel=1e-7)
    np.testing.assert_allclose(
        to_values(delta, BINARY32).ravel(), [-0.75, 0.75, 0.5, -0.5], rtol=1e-7
    )
    output = to_bits([3.0, -1.0, 0.5], BINARY32).reshape(1, 1, 1, 3)
    value, delta = loss("squared", output, np.array([2]), BINARY32)
    assert value == (9 + 1 + 0.25) / 2
    assert to_values(delta, BINARY32).ravel().tolist() == [3, -1, -0.5]


def test_large_scores_do_not_overflow() -> None:
    output = to_bits([1e30, -1e30, 0.0], BINARY32).reshape(1, 1, 1, 3)
    value, delta = loss("cross-entropy", output, np.array([0]), BINARY32)
    assert value == 0
    assert not to_values(delta, BINARY32).any()
    value, _ = loss("cross-entropy", output, np.array([2]), BINARY32)
    assert value == pytest.approx(1e30)


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("word", [BINARY32.nan, BINARY32.inf])
def test_scores_that_are_no_numbers_show(kind: str, word: int) -> None:
    output = np.array([word, 0], np.uint32).reshape(1, 1, 1, 2)
    value, _ = loss(kind, output, np.array([1]), BINARY32)
    assert not math.isfinite(value)


def test_an_unknown_loss_is_refused() -> None:
    known = "loss must be one of cross-entropy, squared, hinge, not 'l1'"
    with pytest.raises(ValueError, match=known):
        loss("l1", np.zeros((1, 1, 1, 2), np.uint32), np.zeros(1, np.int64), BINARY32)
