"""Training in fixed point: gradients against the float64 twin, rates, random bits, saturation."""

from dataclasses import replace

import numpy as np
import pytest

import binary64
from merp.models.arithmetic.fixed import to_numbers, to_words
from merp.models.base.fixed import FixedFormat, Fractions
from merp.models.machines.mac_array import products
from merp.models.machines.mac_array.fixed_training import (
    FixedModel,
    FixedRates,
    FixedStep,
    initial_model,
    train_step,
)
from merp.models.machines.mac_array.fixed_update import Pair
from merp.models.machines.mac_array.float_twin import (
    Largest,
    fraction_for,
    twin_at_rest,
    twin_gradients,
    twin_step,
)
from merp.models.machines.mac_array.kernel_order import as_stored, in_array
from merp.models.machines.mac_array.params.rates import momentum_of, nearest_rate, rate_of
from merp.models.machines.mac_array.passes import (
    bases,
    delta_pass,
    forward_pass,
    sized,
    update_pass,
)
from merp.models.network.network import Network
from merp.tools.common.shipped import open_network

DIGITS = open_network("digits-fixed")
RATES = FixedRates(rate=0.005 / 4, momentum=0.9, seed=3, step=5)
GENERATOR = np.random.default_rng(5)
IMAGES = GENERATOR.random((4, 8, 8, 1))
LABELS = np.array([3, 1, 9, 0])


def in_format(fmt: FixedFormat) -> Network:
    return replace(DIGITS, numbers=fmt)


def step(network: Network, model: FixedModel | None = None, kind: str = "hinge",
         rates: FixedRates = RATES) -> FixedStep:  # fmt: skip
    words = to_words(IMAGES, network.fixed.input).words
    start = initial_model(network, 1) if model is None else model
    return train_step(network, start, words, LABELS, rates, kind)


@pytest.mark.parametrize("kind", ["cross-entropy", "squared", "hinge"])
def test_gradients_of_the_twin_are_derivatives(kind: str) -> None:
    """Near central differences of its own loss, and near the gradients of fixed point."""
    twin, largest = twin_at_rest(DIGITS, 1), Largest()
    made = {name: (w.copy(), b.copy()) for name, (w, b) in twin.parameters.items()}
    _, found = twin_gradients(DIGITS, IMAGES, LABELS, made, kind, largest)

    def total() -> float:
        mean, _ = twin_gradients(DIGITS, IMAGES, LABELS, made, kind, Largest())
        return 4 * mean

    for name, (kernels, biases) in made.items():
        some = kernels.reshape(-1)[:40]  # a view
        numeric = binary64.central_differences(total, some, 1e-6)
        ours = found[name][0].reshape(-1)[:40]
        size = np.abs(found[name][0]).max()
        np.testing.assert_allclose(ours, numeric, rtol=0, atol=2e-6 * size)
        numeric = binary64.central_differences(total, biases, 1e-6)
        np.testing.assert_allclose(found[name][1], numeric, rtol=0, atol=2e-6 * size)


def test_a_step_of_the_twin_is_that_of_momentum() -> None:
    first, largest = twin_at_rest(DIGITS, 1), Largest()
    second, _ = twin_step(DIGITS, first, IMAGES, LABELS, 0.01, 0.9, "hinge", largest)
    third, _ = twin_step(DIGITS, second, IMAGES, LABELS, 0.01, 0.9, "hinge", largest)
    made = second.parameters
    _, gradients = twin_gradients(DIGITS, IMAGES, LABELS, made, "hinge", Largest())
    for name, pair in gradients.items():
        for part in (0, 1):
            velocity = 0.9 * second.velocities[name][part] + pair[part]
            np.testing.assert_allclose(third.velocities[name][part], velocity, rtol=1e-12)
            moved = made[name][part] - 0.01 * velocity
            np.testing.assert_allclose(third.parameters[name][part], moved, rtol=1e-12)
    assert largest.seen["fc3", "velocity"] >= np.abs(third.velocities["fc3"][0]).max()


@pytest.mark.parametrize("kind", ["cross-entropy", "squared", "hinge"])
def test_fine_fractions_give_the_gradients_of_the_twin(kind: str) -> None:
    fine = Fractions(map=12, kernel=14, delta=11, gradient=8, velocity=8)
    network = in_format(FixedFormat(input=14, usual=fine))
    done = step(network, kind=kind, rates=replace(RATES, momentum=0.5))
    twin = twin_at_rest(network, 1)
    _, wanted = twin_gradients(network, IMAGES, LABELS, twin.parameters, kind, Largest())
    for layer in network.layers:
        moved = to_numbers(done.model.velocities[layer.name].kernels, fine.velocity)
        exact = wanted[layer.name][0]
        near = 4 * 2.0**-fine.gradient + 0.02 * np.abs(exact).max()
        assert np.abs(moved - exact).max() < near
        assert np.abs(exact).max() > 0.1


def test_a_step_without_momentum_leaves_velocities_alone() -> None:
    moved = step(DIGITS).model
    again = step(DIGITS, moved, rates=replace(RATES, momentum=0.0)).model
    for name, pair in moved.velocities.items():
        assert (again.velocities[name].kernels == pair.kernels).all()
    assert (again.parameters["fc3"].kernels != moved.parameters["fc3"].kernels).any()


def test_stochastic_bits_are_those_of_seed_and_step() -> None:
    network = in_format(replace(DIGITS.fixed, rounding="stochastic"))
    first, again = (step(network).model.parameters for _ in range(2))
    others = [step(network, rates=replace(RATES, **{key: 8})).model.parameters
              for key in ("seed", "step")]  # fmt: skip
    nearest = step(DIGITS).model.parameters
    for name, pair in first.items():
        assert (pair.kernels == again[name].kernels).all()
        for other in (*others, nearest):
            assert (pair.kernels != other[name].kernels).any()
            assert np.abs(pair.kernels.astype(int) - other[name].kernels).max() <= 1


def test_images_in_parts_are_the_same_step(monkeypatch) -> None:
    coarse = replace(DIGITS.fixed, layers={"conv2": Fractions(gradient=15)})
    whole = step(in_format(coarse))
    monkeypatch.setattr(products, "AT_ONCE", 1)
    parts = step(in_format(coarse))
    assert parts.clipping == whole.clipping
    assert parts.vanished == whole.vanished
    for name, pair in whole.model.velocities.items():
        assert (parts.model.velocities[name].kernels == pair.kernels).all()
        assert (parts.model.velocities[name].biases == pair.biases).all()


def test_saturation_is_counted_by_layer_and_tensor() -> None:
    coarse = replace(DIGITS.fixed, layers={"conv2": Fractions(gradient=15)})
    found = step(in_format(coarse)).clipping
    assert found["conv2"]["gradient"].clipped > 0
    assert found["conv2"]["gradient"].words == 4 * (16 * 32 * 9 + 32)
    assert {tensor for layer in ("conv1", "fc3") for tensor, each in found[layer].items()
            if each.clipped} == set()  # fmt: skip
    assert found["fc3"]["delta"].words == 40
    assert found["conv1"]["delta"].words == 4 * 4 * 4 * 16


def test_order_of_images_is_part_of_the_bits_where_gradients_saturate() -> None:
    coarse = replace(DIGITS.fixed, usual=Fractions(gradient=14))
    network = in_format(coarse)
    words = to_words(IMAGES, 12).words
    model = initial_model(network, 1)
    forth = train_step(network, model, words, LABELS, RATES, "hinge")
    back = train_step(network, model, words[::-1].copy(), LABELS[::-1].copy(), RATES, "hinge")
    assert (forth.model.velocities["fc3"].kernels != back.model.velocities["fc3"].kernels).any()


def test_initial_kernels_are_the_float_networks_rounded_once() -> None:
    float64 = twin_at_rest(DIGITS, 7).parameters
    for name, pair in initial_model(DIGITS, 7).parameters.items():
        assert (pair.kernels == np.rint(float64[name][0] * 2**13)).all()
        assert (pair.biases == np.rint(float64[name][1] * 2**13)).all()


def test_kernels_of_a_fully_connected_layer_are_permuted_and_back() -> None:
    layer = DIGITS.layer("fc3")
    of = sized(DIGITS, layer)
    kernels = np.arange(10 * 128, dtype=np.int16).reshape(10, 128, 1, 1)
    there = in_array(of, kernels)
    assert there.shape == (10, 32, 2, 2)
    assert there[1, 5, 1, 0] == kernels[1, (1 * 2 + 0) * 32 + 5, 0, 0]
    assert (as_stored(there, kernels.shape) == kernels).all()


def test_passes_have_the_shifts_of_the_fractions() -> None:
    fmt = FixedFormat(
        input=12, usual=Fractions(), layers={"conv1": Fractions(map=9, delta=8, kernel=12)}
    )
    network = in_format(fmt)
    conv1, conv2, fc3 = network.layers
    assert forward_pass(network, conv1).shift == 12 + 12 - 9
    assert forward_pass(network, conv2).shift == 9 + 13 - 10
    assert forward_pass(network, conv2).bias_shift == 9
    assert delta_pass(network, conv2).shift == 11 + 13 - 8
    registers = RATES.registers(conv2, stochastic=False)
    update = update_pass(network, conv2, registers)
    assert (update.shift, update.bias_shift, update.velocity_shift) == (9 + 11 - 6, 11 - 6, 6 - 4)
    assert update.update_shift == registers.exponent + 4 - 13
    assert bases(network) == {"conv1": (0, 0), "conv2": (64, 64), "fc3": (128, 128)}
    assert (delta_pass(network, fc3).mask_base, delta_pass(network, fc3).relu) == (64, True)
    last = forward_pass(network, fc3, "hinge")
    assert (last.loss, last.one_shift, last.loss_shift) == ("hinge", 10, -1)
    assert forward_pass(network, fc3, "cross-entropy").loss is None


def test_learning_rates_are_rounded_to_a_mantissa() -> None:
    for rate in (5e-5, 0.05 / 32, 1.0, 1.5, 0.1, 65535.4 / 65536, 1e-9, 3e4):
        found = rate_of(rate)
        assert 32768 <= found.mantissa <= 65535
        assert abs(found.value / rate - 1) <= 2.0**-16
    assert rate_of(1 - 2.0**-30) == rate_of(1.0)
    assert momentum_of(0.9) == 58982
    assert momentum_of(1 - 1e-9) == 65535


@pytest.mark.parametrize("rate", [1e-30, 1e30])
def test_the_nearest_allowed_rate_is_allowed(rate: float) -> None:
    shifts = [rate_of(each).update_shift(4, 13) for each in (rate, nearest_rate(rate, 4, 13))]
    assert not 0 <= shifts[0] <= 47
    assert shifts[1] in (0, 47)


def test_fractions_leave_room_for_twice_the_largest() -> None:
    assert [fraction_for(x) for x in (0.0, 0.49, 0.5, 0.51, 1.0, 7.9, 16.0, 1e6)] == [
        15, 15, 15, 14, 14, 11, 10, 0,
    ]  # fmt: skip


def test_an_extreme_model_is_clipped_and_counted() -> None:
    """All words at their bound: sums stay below 48 bits, what is too large becomes the bound."""
    full = {
        name: Pair(np.full_like(pair.kernels, 32767), np.full_like(pair.biases, 32767))
        for name, pair in initial_model(DIGITS, 0).parameters.items()
    }
    done = step(DIGITS, FixedModel(parameters=full, velocities=full))
    clipped = {name: {tensor: each.clipped for tensor, each in found.items()}
               for name, found in done.clipping.items()}  # fmt: skip
    assert clipped["conv2"]["map"] == 4 * 4 * 4 * 32
    assert clipped["fc3"]["map"] == 40
    assert clipped["fc3"]["delta"] == 36  # nine classes of four images are far too high
    assert clipped["fc3"]["gradient"] > 0
    assert clipped["conv1"]["kernel"] == 0
