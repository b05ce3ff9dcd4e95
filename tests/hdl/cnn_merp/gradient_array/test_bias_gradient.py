"""Sums of deltas of each output map, one or several to a beat, against the golden addition."""

from random import Random

import pytest

from block_bench import BlockBench
from merp.hdl.base.signals import bits, count
from merp.hdl.cnn_merp.gradient_array.bias_gradient import bias_gradient
from merp.hdl.cnn_merp.gradient_array.bias_gradients import bias_gradients
from merp.hdl.cnn_merp.ports.gradients import DeltaElement
from merp.models.arithmetic.fp_add import fp_add
from merp.models.base.formats import FloatFormat
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import revisit_cycles
from merp.models.machines.cnn_merp.params.latencies import GRADIENT_READ
from merp.testbenches.cnn_merp.cu_bench import elements, joined

FMT = FloatFormat(4, 3)


def design_for(add_latency: int, map_port: int) -> EngineDesign:
    return EngineDesign(
        fmt=FMT, k=1, n_cu=4, r=1, groups=2, kernel_words=2, row_words=4, max_size=4, max_maps=8,
        fifo_words=2, add_latency=add_latency, map_port=map_port,
    )  # fmt: skip


@pytest.mark.parametrize(("add_latency", "lanes"), [(1, 1), (3, 1), (2, 2), (4, 4)])
def test_deltas_are_summed(add_latency: int, lanes: int) -> None:
    """Two runs, maps as close as may be; a reset lets what is in flight go, and no more."""
    design = design_for(add_latency, lanes)
    assert design.delta_beat == lanes
    rng = Random(add_latency)
    maps = design.groups * design.n_cu
    words = maps // lanes
    apart = revisit_cycles(design)
    cycles: list[dict[str, int]] = [{"rst": 1}]
    wanted: dict[int, int] = {}  # of each cycle in which a sum is asked for
    for _ in range(2):
        sums = [0] * maps
        visited: dict[int, int] = {}
        for position in range(5):
            for word in range(words):
                while len(cycles) < visited.get(word, -apart) + apart or rng.random() < 0.1:
                    cycles.append({})
                visited[word] = len(cycles)
                deltas = elements(lanes, FMT, rng)
                cycles.append({
                    "element_valid": 1, "element_data": joined(deltas, FMT.width),
                    "element_index": word, "element_opening": int(position == 0),
                })  # fmt: skip
                for at in range(word * lanes, word * lanes + lanes):
                    before = 0 if position == 0 else sums[at]
                    sums[at] = int(fp_add(before, deltas[at % lanes], FMT))
        cycles += [{}] * (apart - 1)
        # A delta that a reset forgets, at the latest in the cycle before the one that writes it.
        late = rng.randrange(1, add_latency + 1)
        cycles.append({
            "element_valid": 1, "element_data": joined([FMT.one] * lanes, FMT.width),
            "element_index": 1, "element_opening": 1,
        })  # fmt: skip
        cycles += [{}] * (late - 1)
        cycles.append({"rst": 1})
        cycles += [{}] * apart
        for index in rng.sample(range(maps), maps):
            wanted[len(cycles)] = sums[index]
            cycles.append({"read_enable": 1, "read_index": index})
    cycles += [{}] * (GRADIENT_READ + 1)
    bench = BlockBench(
        bias_gradients if lanes > 1 else bias_gradient, "clk rst read_enable",
        element=DeltaElement(design), read_index=count(maps - 1), gradient=bits(FMT.width),
        design=design,
    )  # fmt: skip

    def drive(cycle: int, _: dict[str, int]) -> dict[str, int]:
        noise = {
            "rst": 0, "element_valid": 0, "element_data": rng.getrandbits(lanes * FMT.width),
            "element_index": rng.randrange(words), "element_opening": rng.getrandbits(1),
            "read_enable": 0, "read_index": rng.randrange(maps),
        }  # fmt: skip
        return noise | cycles[cycle]

    trace = bench.run(drive, len(cycles))
    gradient = trace.column("gradient")
    assert [gradient[t + GRADIENT_READ] for t in wanted] == list(wanted.values()) != []
