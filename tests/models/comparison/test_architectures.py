"""Every architecture of the registry: fair, whole, monotone, and true to what its paper prints."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from merp.models.base.errors import BadInput
from merp.models.comparison.architecture import Architecture
from merp.models.comparison.compare import compare
from merp.models.comparison.fairness import done, unfair, useful
from merp.models.comparison.options import Options
from merp.models.comparison.record import FULL, Record
from merp.models.comparison.record_json import as_json, record_of
from merp.models.comparison.registry import ARCHITECTURES, named
from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.plan.automatic import WORTH
from merp.models.network.network import Network
from merp.tools.common.boards import any_board
from merp.tools.common.shipped import open_network

ALL = tuple(ARCHITECTURES.values())
NETWORKS = ("lenet5", "cifar10-1x", "alexnet")
BATCH = 24

each = pytest.mark.parametrize("architecture", ALL, ids=lambda found: found.name)


def options(architecture: Architecture, network: Network, kind: str = "conv") -> Options:
    names = tuple(layer.name for layer in network.layers if kind in (layer.kind, "all"))
    extra = {choice.name: choice.default for choice in architecture.choices}
    return Options(batch=BATCH, scope=names, extra=extra)


def answer(architecture: Architecture, name: str, board: Board, kind: str = "conv") -> Record:
    network = open_network(name)
    return architecture.answer(network, board, options(architecture, network, kind))


@cache
def own(name: str, network: str, kind: str = "conv") -> Record:
    return answer(named(name), network, any_board(named(name).board), kind)


@pytest.mark.sample(5)
@each
@pytest.mark.parametrize("name", NETWORKS)
def test_useful_work_is_the_networks_in_every_record(architecture: Architecture, name: str) -> None:
    network, record = open_network(name), own(architecture.name, name)
    if record.left_out:
        assert unfair(record, network, record.scope, BATCH) is not None
        return
    assert unfair(record, network, record.scope, BATCH) is None
    assert done(record) == useful(network, record.scope, BATCH)
    assert (record.board, record.architecture) == (architecture.board, architecture.name)


@each
@pytest.mark.parametrize("name", NETWORKS)
def test_bytes_are_whole_words_and_full_has_the_maps(architecture: Architecture, name: str) -> None:
    record = own(architecture.name, name)
    for row in record.rows:
        for kind, figure in row.bytes.items():
            assert figure.value >= 0
            if kind not in ("state", "config", "chip", "again"):
                assert 8 * figure.value % record.word_bits == 0, (row.layer, row.phase, kind)
    assert record.bytes(FULL).value >= record.bytes(("maps",)).value


@each
def test_a_record_is_its_json(architecture: Architecture) -> None:
    record = own(architecture.name, "lenet5")
    assert record_of(json.loads(json.dumps(as_json(record)))) == record


def faster(board: Board, factor: float) -> Board:
    """The clock and every bandwidth times ``factor``."""
    link, host, load = board.link, board.host_gbytes_s, board.load_s
    return replace(
        board,
        clock_mhz=factor * board.clock_mhz,
        gbytes_s=factor * board.gbytes_s,
        load_mbytes_s=factor * board.load_mbytes_s,
        load_s=None if load is None else load / factor,
        host_gbytes_s=None if host is None else factor * host,
        link=None if link is None else replace(link, gbytes_s=factor * link.gbytes_s),
    )


@each
@pytest.mark.parametrize("name", ["lenet5", pytest.param("alexnet", marks=pytest.mark.full)])
def test_twice_the_clock_and_bandwidths_are_twice_the_images(
    architecture: Architecture, name: str
) -> None:
    twice = answer(architecture, name, faster(any_board(architecture.board), 2))
    assert twice.images_per_s.value == 2 * own(architecture.name, name).images_per_s.value


def larger(board: Board) -> Iterator[Board]:
    """Boards each of which has as much of everything as the one before, or more."""
    for luts, ffs, rams, dsps, memory in [
        (1.1, 1, 1, 1, 1), (1, 1, 1, 1.5, 1), (1.2, 1.2, 2, 1, 1), (1, 1, 1, 1, 2), (2, 2, 2, 2, 2),
    ]:  # fmt: skip
        part = replace(
            board.part,
            luts=int(luts * board.part.luts),
            flip_flops=int(ffs * board.part.flip_flops),
            block_rams=int(rams * board.part.block_rams),
            dsps=int(dsps * board.part.dsps),
        )
        board = replace(board, part=part, gbytes_s=memory * board.gbytes_s)
        yield board


@pytest.mark.sample(2)
@each
@pytest.mark.parametrize("name", ["lenet5", pytest.param("alexnet", marks=pytest.mark.full)])
def test_more_of_everything_is_never_slower(architecture: Architecture, name: str) -> None:
    """CNN-MERP's planner leaves ports narrow that save less than ``WORTH`` of the time."""
    slack = WORTH if architecture.name == "cnn-merp" else 0.0
    before = own(architecture.name, name)
    for board in larger(any_board(architecture.board)):
        found = answer(architecture, name, board)
        if before.fits or not found.fits:  # what does not fit is no machine that could be faster
            assert found.images_per_s.value >= (1 - slack) * before.images_per_s.value
        before = found


@pytest.mark.sample(2)
@each
def test_what_does_not_run_is_said(architecture: Architecture) -> None:
    """A network with branches, a scope with fully connected layers: an answer or a reason."""
    for name, kind in (("resnet-digits", "all"), ("digits", "all")):
        network = open_network(name)
        (found,) = compare(
            network, [architecture], any_board, scope=options(architecture, network, kind).scope,
            batch=BATCH,
        ).answers  # fmt: skip
        record = found.record
        if record is None:
            assert found.why
            assert "\n" not in found.why
            continue
        planned = {row.layer for row in record.rows}
        assert planned | set(record.left_out) == {layer.name for layer in network.layers}


def test_options_of_architectures_have_names_of_their_own() -> None:
    names = [choice.name for architecture in ALL for choice in architecture.choices]
    assert len(names) == len(set(names))


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(BadInput, match=r"'cnn-mrep': allowed are cnn-merp.*did you mean cnn-merp"):
        named("cnn-mrep")
