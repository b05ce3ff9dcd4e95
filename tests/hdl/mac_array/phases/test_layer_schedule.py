"""The schedule hands each pass its registers, image by image, in the stated cycles."""

from collections import Counter
from collections.abc import Sequence
from itertools import compress
from pathlib import Path
from random import Random

import numpy as np
import pytest

from block_bench import Replays
from merp.cosim.synthesis.synthesis import synthesise
from merp.hdl.conversion.convert import convert
from merp.hdl.mac_array.phases.layer_schedule import layer_schedule
from merp.models.fpga.resources import count_cells
from merp.models.machines.mac_array.params.pass_registers import array_settings
from merp.models.machines.mac_array.params.schedule_layout import (
    MAX_PASSES,
    OF_IMAGE,
    schedule_layout,
)
from merp.models.machines.mac_array.passes import design_of
from merp.models.machines.mac_array.schedule_words import schedule_passes, schedule_words
from merp.testbenches.block.trace import Trace
from merp.testbenches.mac_array.designs import small_design
from merp.testbenches.mac_array.schedule_bench import (
    SETTINGS,
    ScheduleSession,
    play,
    schedule_arguments,
)
from merp.tools.common.shipped import open_network
from needed_tools import needs

DESIGN = small_design(momentum=True, loss=True, pool_window=2)
WORDS = schedule_layout(DESIGN).words


def words_of(passes: int, seed: int) -> list[int]:
    """Words of passes whose registers are at random, or at an end of their range."""
    rng = Random(seed)
    found = [
        {
            name: rng.choice((least, most, rng.randint(least, most)))
            for name, (least, most, _) in array_settings(DESIGN).items()
        }
        for _ in range(passes)
    ]
    words: list[int] = schedule_words(found, DESIGN).tolist()
    return words


def wanted(session: ScheduleSession, words: Sequence[int]) -> list[dict[str, int]]:
    """Registers of each pass of a run, by the golden model."""
    of_image = schedule_passes(np.array(words, np.uint32), DESIGN)[: session.passes]
    ends = [(image == 0, image == session.images - 1) for image in range(session.images)]
    return [
        {
            f"{SETTINGS}{name}": int(value)
            for name, value in (*values.items(), *zip(OF_IMAGE, end, strict=True))
        }
        for end in ends
        for values in of_image
    ]


def check(*sessions: ScheduleSession, seed: int = 1) -> Trace:
    """Registers of every pass, and every cycle, of runs that are not reset."""
    cycles = sum(
        80 + int(len(each.words) / each.rate * 1.3) + each.passes * each.images * (WORDS + 14)
        for each in sessions
    )
    played, trace = play(DESIGN, sessions, cycles, seed)
    assert len(played) == len(sessions)
    words: Sequence[int] = ()
    for session, seen in zip(sessions, played, strict=True):
        words = session.words or words
        if session.reset_at is not None:
            assert seen.done < 0
            continue
        assert seen.settings == wanted(session, words)
        assert seen.begun == [at + WORDS + 2 for at in (seen.loaded, *seen.ended[:-1])]
        assert seen.done == seen.ended[-1] + 1
        if session.rate == 1:
            assert seen.loaded == len(session.words)
    errors = [
        bool(each.wrong) or each.lasts not in (None, [len(each.words) - 1]) for each in sessions
    ]
    kept = [each.reset_at is None for each in sessions]
    told = [bool(each.error) for each in played]
    assert list(compress(told, kept)) == list(compress(errors, kept))
    return trace


def test_each_pass_of_each_image_has_its_registers() -> None:
    check(
        ScheduleSession(3, 2, words_of(3, 1)),
        ScheduleSession(3, 1),
        ScheduleSession(2, 3),  # the first two of those that are there
        ScheduleSession(1, 3, words_of(1, 2), rate=0.4),
    )


def test_a_full_memory_and_no_pass_more() -> None:
    """Words of a pass, and of the memory, a power of two: no counter goes beyond its bits."""
    assert WORDS == 32
    check(ScheduleSession(MAX_PASSES, 1, words_of(MAX_PASSES, 3)))


def test_a_wrong_frame_is_told_of_its_run_alone() -> None:
    words = words_of(2, 4)
    check(
        ScheduleSession(2, 2, wrong=[0], words=words),
        ScheduleSession(2, 2),
        ScheduleSession(2, 2, wrong=[3]),
        ScheduleSession(2, 1),  # begins beside what that pass still says
        ScheduleSession(2, 1, words, lasts=[-1]),
        ScheduleSession(2, 1, words, lasts=[WORDS - 1, len(words) - 1]),
        ScheduleSession(2, 1, words),
    )


def test_a_reset_at_any_time_leaves_nothing_of_its_run() -> None:
    words, others = words_of(2, 5), words_of(2, 6)
    loading, begun = 2 * WORDS, 3 * WORDS + 2
    cuts = (
        1,
        WORDS,
        loading - 1,
        loading,
        begun - 3,
        begun - 2,
        begun - 1,
        begun,
        begun + 1,
        begun + WORDS,
    )
    for cut in cuts:
        check(
            ScheduleSession(2, 2, words, wrong=[0], reset_at=cut),
            ScheduleSession(2, 2, others),
            ScheduleSession(2, 1, reset_at=cut % WORDS + 1),
            ScheduleSession(2, 1),
            seed=cut,
        )


@pytest.mark.ghdl
def test_vhdl_replays(replays: Replays) -> None:
    trace = check(
        ScheduleSession(2, 2, words_of(2, 7), rate=0.6),
        ScheduleSession(2, 1, words_of(2, 8), wrong=[1], reset_at=WORDS + 3),
        ScheduleSession(1, 2, words_of(1, 9), wrong=[1]),
    )
    replays(trace)


@pytest.mark.full
@needs("yosys")
def test_the_memory_is_block_ram_and_the_rest_little(tmp_path: Path) -> None:
    network = open_network("cifar10-1x-fixed")
    arguments = schedule_arguments(design_of(network, network.layers[0]))
    export = convert(layer_schedule, arguments, "verilog", tmp_path)
    cells = synthesise(list(export.files), export.top)["cells"].values()
    found = count_cells(Counter(cell["type"] for cell in cells))
    assert (found.bram, found.memory, found.dsp) == (2.5, 0, 0)
    assert found.logic < 300
