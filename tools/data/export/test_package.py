# SPDX-License-Identifier: Apache-2.0
"""{{ title }}: a test in cocotb.

pip install 'merp[hdl]' pytest
pytest sim
"""

from collections.abc import Callable
from pathlib import Path

from merp.cocotb import Bench, bench_test

pytest_plugins = ["merp.cocotb.plugin"]


@bench_test
async def small_vectors(bench: Bench) -> None:
    """Check words and counters, without and with pauses. There is no reset between the runs."""
    for pause in (0.0, 0.4):
        for name in bench.package.passes("small"):
            vectors = bench.package.vectors(name)
            result = await bench.run(vectors.registers, vectors.inputs, pause=pause)
            result.check(vectors.outputs, vectors.counters)


def test_small_vectors(run_package: Callable[[Path], int]) -> None:
    """Run the test above in the simulator."""
    assert run_package(Path(__file__).resolve().parents[1]) == 1
