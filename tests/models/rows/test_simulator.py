"""The event simulator: against the reference cycle by cycle, and on the networks of the paper."""

from dataclasses import replace
from fractions import Fraction

import pytest

from merp.models.base.shape import Pool, Shape
from merp.models.network.network import Layer, Network
from merp.models.papers.fpdeep.links import borders
from merp.models.papers.fpdeep.partition import partition
from merp.models.papers.fpdeep.rows import rows_of, slices_of
from merp.models.papers.fpdeep.stage import stages
from merp.models.papers.networks import alexnet, vgg
from merp.models.rows.layout import Layout, Links
from merp.models.rows.reference import StandsStill, reference
from merp.models.rows.simulator import Deadlock, RowOutcome, simulate
from random_chains import random_chain

CLOCK_MHZ = 200


def ends_of(outcome: RowOutcome) -> dict[str, list[int]]:
    streams = outcome.graph.streams
    return {each.what: list(ends) for each, ends in zip(streams, outcome.ends, strict=True)}


def by_events(chain: Layout) -> dict[str, list[int]] | Deadlock:
    try:
        return ends_of(simulate(chain))
    except Deadlock as stuck:
        return stuck


def by_cycles(chain: Layout) -> dict[str, list[int]] | StandsStill:
    try:
        return reference(chain)
    except StandsStill as still:
        return still


def compare(seed: int) -> bool:
    """Whether a chain runs to its end; in both the same, and at the same cycles."""
    chain = random_chain(seed)
    found, wanted = by_events(chain), by_cycles(chain)
    if isinstance(wanted, StandsStill):
        assert isinstance(found, Deadlock)
        assert found.done == wanted.done
        assert_holds_itself_up(found)
        return False
    assert found == wanted
    return True


def assert_holds_itself_up(stuck: Deadlock) -> None:
    """Each wait is for the next one, and the last for the first."""
    assert stuck.cycle
    for wait, holder in zip(stuck.cycle, (*stuck.cycle[1:], stuck.cycle[0]), strict=True):
        if len(stuck.cycle) == 1:
            assert wait.whom == "itself"
        else:
            assert holder.who.startswith(wait.whom)


@pytest.mark.parametrize("seed", [*range(20), 209])
def test_every_task_is_done_at_the_cycle_of_the_reference(seed: int) -> None:
    compare(seed)


@pytest.mark.full
def test_200_chains_are_those_of_the_reference() -> None:
    ran = [compare(seed) for seed in range(1000, 1200)]
    assert 10 < ran.count(False) < 100


def test_usual_fifos_never_stand_still() -> None:
    for seed in range(150):
        chain = random_chain(seed)
        simulate(replace(chain, sizes={}, links=replace(chain.links, shared=False), images=3))


def small(images: int = 3) -> Layout:
    """Two layers on two nodes; the second one's input maps are cut."""
    three = Shape(n=2, m=4, k=3, rows=8, columns=8, pad=1, pool=Pool(window=2, stride=2))
    network = Network(
        name="small", input=(8, 8, 2),
        layers=(
            Layer(name="conv1", kind="conv", shape=three),
            Layer(name="conv2", kind="conv", shape=Shape(n=4, m=6, k=3, rows=4, columns=4, pad=1)),
        ),
    )  # fmt: skip
    some = stages(network, network.layers)
    cut = partition(some, 2, 54)
    return Layout(layers=rows_of(some), slices=slices_of(cut.pieces), images=images)


def test_a_chain_by_hand() -> None:
    """One layer on one node, no pooling, a row of sums in 4 cycles."""
    shape = Shape(n=1, m=1, k=3, rows=4, columns=4, pad=1)
    network = Network(
        name="one", input=(4, 4, 1), layers=(Layer(name="conv1", kind="conv", shape=shape),)
    )
    some = stages(network, network.layers)
    cut = partition(some, 1, 18)
    chain = Layout(layers=rows_of(some), slices=slices_of(cut.pieces), images=2, depth=1)
    ends = ends_of(simulate(chain))
    # A row of sums needs its own row and the next one, of which one comes in each cycle.
    assert ends["source"][:4] == [1, 2, 3, 4]
    assert ends["fp conv1 on node 0"][:4] == [6, 10, 14, 18]
    assert ends["loss"][:4] == [19, 20, 21, 22]
    assert ends["ku conv1 on node 0"][:4] == [23, 27, 31, 35]
    assert ends["source"][4:] == [36, 37, 38, 39]  # a single image in flight


def stage(chain: Layout) -> int:
    return max(max(each.cycles.values()) for each in chain.slices)


def on_15(network: Network, gbits_s: int | None = None, depth: int = 8) -> Layout:
    some = stages(network, network.layers)
    rate = None if gbits_s is None else Fraction(gbits_s * 1000, CLOCK_MHZ)
    return Layout(
        layers=rows_of(some), slices=slices_of(partition(some, 15, 2880).pieces),
        links=Links(bits_per_cycle=rate), images=10, depth=depth,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("network", "fill"),
    [
        (alexnet(1), 3.92),
        pytest.param(vgg(16), 3.84, marks=pytest.mark.full),
        pytest.param(vgg(19), 4.36, marks=pytest.mark.full),
    ],
    ids=["alexnet-1group", "vgg16", "vgg19"],
)
def test_an_image_in_the_time_of_the_largest_stage(network: Network, fill: float) -> None:
    chain = on_15(network)
    found = simulate(chain)
    assert found.interval == pytest.approx(stage(chain), rel=1e-3)
    assert found.fill / stage(chain) == pytest.approx(fill, abs=0.006)


@pytest.mark.parametrize(
    ("gbits_s", "intervals"),
    [
        pytest.param(40, 1, marks=pytest.mark.full),
        (20, 1),
        (11, 1.01),
        (8, 1.34),
        pytest.param(4, 2.67, marks=pytest.mark.full),
    ],
)
def test_links_that_are_too_slow_are_waited_for(gbits_s: int, intervals: float) -> None:
    chain = on_15(alexnet(1), gbits_s)
    assert simulate(chain).interval / stage(chain) == pytest.approx(intervals, abs=0.006)


FULL = pytest.mark.full


@pytest.mark.parametrize(
    "depth", [1, pytest.param(2, marks=FULL), 3, 4, pytest.param(5, marks=FULL)]
)
def test_images_in_flight(depth: int) -> None:
    """With fewer than the first image's gradients take, in intervals, all wait for them."""
    chain = on_15(alexnet(1), depth=depth)
    wanted = (3.92, 1.96, 1.31, 1.00, 1.00)[depth - 1]
    assert simulate(chain).interval / stage(chain) == pytest.approx(wanted, abs=0.006)


def features(chain: Layout) -> tuple[dict[int, float], list[float]]:
    """Words of features that each node has at most, and images in each slice."""
    found = simulate(chain)
    words: dict[int, float] = {}
    images = []
    for fifo, peak in zip(found.graph.fifos, found.peaks, strict=True):
        if fifo.kind == "features":
            piece = chain.slices[fifo.place]
            layer = chain.layers[piece.layer]
            share = 1 if layer.by_outputs else float(piece.end - piece.begin)
            images.append(peak / layer.inputs)
            kept = share * images[-1] * layer.input_words
            words[piece.node] = words.get(piece.node, 0) + kept
    return words, images


@pytest.mark.parametrize(
    ("network", "waiting", "percent"),
    [
        (alexnet(1), (3.1, 1.4), (14, 15, 43)),
        pytest.param(alexnet(2), (3.2, 1.3), (14, 14, 43), marks=FULL),
        pytest.param(vgg(16), (3.0, 1.3), (157, 143, 725), marks=FULL),
        pytest.param(vgg(19), (3.4, 1.3), (232, 164, 959), marks=FULL),
    ],
    ids=["alexnet-1group", "alexnet", "vgg16", "vgg19"],
)
def test_features_that_wait(
    network: Network, waiting: tuple[float, float], percent: tuple[int, int, int]
) -> None:
    """Images in the first slice and the last; block RAM of the first boards, and of all."""
    words, images = features(replace(on_15(network, depth=16), images=12))
    assert (images[0], images[-1]) == pytest.approx(waiting, abs=0.051)
    shares = [100 * each * 16 / (1470 * 36_864) for each in words.values()]
    assert (round(shares[0]), round(shares[1]), round(sum(shares))) == percent


@pytest.mark.full
@pytest.mark.parametrize(
    ("network", "intervals"), [(alexnet(2), (3.05, 1.52, 1.11)), (vgg(16), (1.49, 1.04))],
    ids=["alexnet", "vgg16"],
)  # fmt: skip
def test_83_boards_want_more_images_in_flight(
    network: Network, intervals: tuple[float, ...]
) -> None:
    some = stages(network, network.layers)
    links = Links(bits_per_cycle=Fraction(1044 * 100, CLOCK_MHZ), latency=100)
    chain = Layout(
        layers=rows_of(some), slices=slices_of(partition(some, 83, 2880).pieces), links=links
    )
    for depth, wanted in zip((4, 8, 16), intervals, strict=False):
        deep = replace(chain, depth=depth, images=2 * depth)
        assert simulate(deep).interval / stage(chain) == pytest.approx(wanted, abs=0.006)


def test_words_that_cross_are_those_of_the_formula() -> None:
    """And what leaves one node comes to the next, row by row: FIFOs are empty in the end."""
    chain = on_15(alexnet(2), 30)
    chain = replace(chain, images=2, links=replace(chain.links, carried={3: 1000}))
    found = simulate(chain)
    some = stages(alexnet(2), alexnet(2).layers)
    crossing = {each.node: each for each in borders(partition(some, 15, 2880).pieces)}
    for border, each in crossing.items():
        more = 1000 * (border == 3)
        assert found.words(f"link {border} to {border + 1}") == 2 * (round(each.forward) + more)
        assert found.words(f"link {border + 1} to {border}") == 2 * (round(each.backward) + more)


def test_waits_and_work_fill_the_time() -> None:
    found = simulate(small())
    for server, name in enumerate(found.graph.servers):
        last = max(
            ends[-1]
            for stream, ends in zip(found.graph.streams, found.ends, strict=True)
            if stream.server == server
        )
        assert found.busy[server] + sum(found.waits[server].values()) == last, name


def test_a_fifo_shorter_than_a_window_is_named() -> None:
    chain = small()
    with pytest.raises(Deadlock) as stuck:
        simulate(replace(chain, sizes={("maps", 1): 1}))
    assert str(stuck.value) == (
        "after 152 cycles nothing moves: maps over link 0 to 1, image 0, row 1, waits for a place "
        "for maps, of 1 in all, from fp conv2 on node 1; fp conv2 on node 1, image 0, row 0, waits "
        "for a row of maps from maps over link 0 to 1"
    )


def test_one_fifo_for_maps_and_sums_is_named() -> None:
    """Maps of the rows to come take all places, and the sums of the first one find none."""
    chain = on_15(alexnet(1), 200)
    shared = replace(chain, links=replace(chain.links, shared=True), images=1)
    with pytest.raises(Deadlock) as stuck:
        simulate(shared)
    assert_holds_itself_up(stuck.value)
    assert [wait.what for wait in stuck.value.cycle] == [
        "a place for sums, of 7 in all,", "a row of sums"
    ]  # fmt: skip
