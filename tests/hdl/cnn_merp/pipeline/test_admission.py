"""Which images are in a pipeline: as many as are allowed, each as soon as it may come in."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample, at_random
from merp.hdl.base.signals import Stream, count
from merp.hdl.cnn_merp.pipeline.admission import admission
from merp.hdl.cnn_merp.ports.slice_ports import AdmissionConfig
from merp.models.machines.cnn_merp.params.pipeline_design import PipelineDesign

WIDTH = 6
DESIGN = PipelineDesign(
    slices=(), depth=3, max_images=9, max_words=7, max_leaving=5, max_losses=9
)  # fmt: skip
CONFIG = {"images": 6, "words": 4, "leaving": 3, "depth": 2, "losses": 1}
SIGNALS = ("rst", "start", "sink_data", "sink_valid", "sink_last", "source_ready", "leaving")


BENCH = BlockBench(
    admission, "clk rst start leaving", config=AdmissionConfig(DESIGN), sink=Stream(WIDTH),
    source=Stream(WIDTH), flight=count(DESIGN.depth), peak=count(DESIGN.depth),
)  # fmt: skip


def play(rates: tuple[float, float, float], cycles: int, runs: int = 1, **config: int) -> Recorded:
    """Runs of images; words are offered, taken, and done with behind, at three rates."""
    chosen = CONFIG | config
    rng = Random(f"{rates} {config}")
    state = {"inside": 0, "valid": 0, "at": 0}

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        if state["valid"] and seen["sink_ready"]:
            state.update(valid=0, at=state["at"] + 1)
            state["inside"] += 1
        if seen.get("leaving"):
            state["left"] = state.get("left", 0) + 1
        if cycle and not state["valid"]:
            state["valid"] = int(rng.random() < rates[0])
        # Words leave of what has come in only: the last of an image behind the image's last.
        whole = state["inside"] // chosen["words"] * chosen["leaving"]
        leaves = state.get("left", 0) < whole and rng.random() < rates[2]
        starts = [1 + cycles // runs * i for i in range(runs)]
        return {
            "rst": int(cycle == 0), "start": int(cycle in starts),
            "sink_data": state["at"] % (1 << WIDTH), "sink_valid": state["valid"],
            "sink_last": int(state["at"] % 7 == 6), "source_ready": int(rng.random() < rates[1]),
            "leaving": int(leaves), **{f"config_{name}": value for name, value in chosen.items()},
        }  # fmt: skip

    return BENCH.run(drive, cycles)


RATES = [(1.0, 1.0, 1.0), (0.5, 0.9, 0.3), (0.9, 0.4, 0.8)]


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_no_more_images_than_allowed_and_none_waits_in_vain(
    rates: tuple[float, float, float], depth: int
) -> None:
    trace = play(rates, 400, depth=depth)
    words = trace.transfers("sink")
    assert words == trace.transfers("source")
    assert [data for _, data, _ in words] == list(range(6 * 4))
    begun, ended, flight, peak = 0, 0, 0, 0
    times = [t for t, *_ in words]
    leaving = trace.column("leaving")
    for t in range(2, 400):
        begun = sum(1 for i in range(0, 24, 4) if times[i] <= t)
        ended = sum(leaving[: t + 1]) // 3
        flight, peak = begun - ended, max(peak, begun - ended)
        assert flight <= depth
    assert (begun, ended, flight) == (6, 6, 0)
    assert trace.column("flight")[-1] == 0
    assert trace.column("peak")[-1] == max(trace.column("flight")) == peak
    if rates == RATES[0]:  # the next one comes in as soon as one is done
        done = [t for t in range(400) if leaving[t] and sum(leaving[: t + 1]) % 3 == 0]
        for image in range(depth, 6):
            behind = times[4 * image - 1]
            assert times[4 * image] == max(done[image - depth], behind) + 2


def test_words_of_an_image_follow_each_other() -> None:
    trace = play(RATES[0], 60, depth=3)
    times = [t for t, *_ in trace.transfers("source")]
    assert times[:4] == [3, 4, 5, 6]
    assert times[4:8] == [8, 9, 10, 11]  # a cycle between two images


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_flight_counts_an_image_that_leaves_in_any_cycle(depth: int) -> None:
    """Also in the cycle in which another one enters, which is the one before its first word."""
    images, words, cycles = 4, 2, 30
    config = {"images": images, "words": words, "leaving": 1, "depth": depth}
    fixed = {f"config_{name}": value for name, value in (CONFIG | config).items()}
    coincided = 0
    for moment in range(4, 16):  # the first image enters in cycle 2

        def drive(cycle: int, seen: Sample, moment: int = moment) -> dict[str, int]:
            return fixed | {
                "rst": int(cycle == 0), "start": int(cycle == 1), "sink_data": 0, "sink_valid": 1,
                "sink_last": 0, "source_ready": 1, "leaving": int(cycle == moment),
            }  # fmt: skip

        trace = BENCH.run(drive, cycles)
        enters = [t - 1 for t, *_ in trace.transfers("sink")][::words]
        assert len(enters) == min(depth + 1, images)
        wanted = [sum(e < t for e in enters) - (moment < t) for t in range(cycles)]
        assert trace.column("flight")[2:] == wanted[2:], moment
        assert trace.column("peak")[-1] == max(wanted)
        coincided += moment in enters
    assert coincided == depth - 1


def test_the_next_run_begins_anew() -> None:
    trace = play(RATES[0], 200, runs=2)
    times = [t for t, *_ in trace.transfers("sink")]
    assert len(times) == 2 * 6 * 4
    assert [t - 100 for t in times[24:]] == times[:24]
    assert trace.column("peak")[102] == 0


def test_nothing_passes_before_a_start_and_behind_the_last_image() -> None:
    trace = play(RATES[0], 100, images=1)
    assert [t for t, *_ in trace.transfers("sink")] == [3, 4, 5, 6]
    assert trace.column("sink_ready")[:3] == [0, 0, 0]
    assert not any(trace.column("sink_ready")[7:])


def test_a_reset_leaves_nothing_behind() -> None:
    rates = {"sink_valid": 0.7, "source_ready": 0.5, "sink_last": 0.2, "leaving": 0.3}
    fixed = {f"config_{name}": value for name, value in CONFIG.items()}
    session = at_random(rates, {"sink_data": WIDTH}, fixed)
    payload = {"source_valid": "source_data source_last"}
    BENCH.as_new_after_reset(session, range(3, 40, 3), 40, payload=payload)


@pytest.mark.ghdl
def test_admission_vhdl(replays: Replays) -> None:
    replays(play(RATES[1], 200))
