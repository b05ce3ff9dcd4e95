"""Words of a schedule: where each register stands, there and back, and what is refused."""

from random import Random

import numpy as np
import pytest

from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.pass_registers import array_settings
from merp.models.machines.mac_array.params.schedule_layout import (
    MAX_PASSES,
    OF_IMAGE,
    schedule_layout,
)
from merp.models.machines.mac_array.params.schedule_registers import ScheduleRun
from merp.models.machines.mac_array.schedule_words import schedule_passes, schedule_words
from merp.testbenches.mac_array.designs import small_design

DESIGN = small_design(momentum=True, stochastic=True, loss=True, pool_window=2)


def values(rng: Random, design: ArrayDesign = DESIGN) -> dict[str, int]:
    return {
        name: rng.choice((least, most, rng.randint(least, most)))
        for name, (least, most, _) in array_settings(design).items()
    }


def test_no_two_registers_share_a_bit_and_none_is_in_two_words() -> None:
    seen: set[tuple[int, int]] = set()
    settings = array_settings(DESIGN)
    layout = schedule_layout(DESIGN)
    assert layout.places.keys() == settings.keys() - set(OF_IMAGE)
    for name, place in layout.places.items():
        held = {(place.word, place.low + bit) for bit in range(place.width)}
        assert not held & seen
        seen |= held
        assert place.low + place.width <= 32
        assert settings[name].most < 1 << place.width
    assert {word for word, _ in seen} == set(range(layout.words))


def test_the_words_of_a_pass_are_its_registers_in_the_order_of_the_map() -> None:
    """Read as a plain list: widths of the largest values, a new word where one does not fit."""
    given = values(Random(1))
    found: list[int] = []
    room = 0
    for name, (_, most, _) in array_settings(DESIGN).items():
        if name in OF_IMAGE:
            continue
        width = len(f"{most:b}")
        if width > room:
            found.append(0)
            room = 32
        found[-1] += given[name] << 32 - room
        room -= width
    assert schedule_words([given], DESIGN).tolist() == found


@pytest.mark.parametrize("choices", [{}, {"loss": True}, {"momentum": True, "max_maps": 4096}])
def test_passes_come_back(choices: dict[str, int]) -> None:
    design, rng = small_design(**choices), Random(2)
    given = [values(rng, design) for _ in range(MAX_PASSES)]
    words = schedule_words(given, design)
    assert len(words) == schedule_layout(design).depth
    stored = [{key: each[key] for key in each.keys() - set(OF_IMAGE)} for each in given]
    assert schedule_passes(words, design) == stored


def test_what_is_no_schedule_is_refused() -> None:
    given = values(Random(3))
    with pytest.raises(ValueError, match="a schedule has 1 to 64 passes, not 0"):
        schedule_words([], DESIGN)
    with pytest.raises(ValueError, match="a schedule has 1 to 64 passes, not 65"):
        schedule_words([given] * 65, DESIGN)
    with pytest.raises(ValueError, match="pass 1: update_config_seed must be 0 to 1073741823, not"):
        schedule_words([given, given | {"update_config_seed": 1 << 30}], DESIGN)
    with pytest.raises(ValueError, match="pass 0: registers missing or unknown: odd"):
        schedule_words([given | {"odd": 1}], DESIGN)
    size = schedule_layout(DESIGN).words
    for words in (0, size + 1, 65 * size):
        with pytest.raises(ValueError, match=f"{words} words: a schedule has 1 to 64 passes of "):
            schedule_passes(np.zeros(words, np.uint32), DESIGN)
    with pytest.raises(ValueError, match="passes of a schedule must be 1 to 64, not 65"):
        ScheduleRun(passes=65, images=1)
    with pytest.raises(ValueError, match="images of a schedule must be 1 to 65535, not 0"):
        ScheduleRun(passes=1, images=0)
