"""``merp verify-float`` on the golden engine."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from measured import Ratio, Seconds, best
from merp.models.arithmetic.fp_add import fp_add
from merp.models.base.formats import BINARY32
from merp.tools.simulate.verify_float.tally import verify
from merp.tools.simulate.verify_float.units import FloatUnit

VECTORS = 1_000_000


def figures() -> Iterator[Seconds | Ratio]:
    """A million rows in chunks and line by line.

    A line with two spaces is not of the usual shape and is read by itself, as every line was before
    there were chunks.
    """
    rng = np.random.default_rng(0)
    # Within the normal numbers, so that the golden sums are IEEE's.
    a, b = (
        (rng.integers(0, 1 << 23, VECTORS) | rng.integers(96, 160, VECTORS) << 23).astype(np.uint32)
        for _ in range(2)
    )
    rows = list(zip(a.tolist(), b.tolist(), fp_add(a, b, BINARY32).tolist(), strict=True))
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, gap in (("in chunks", " "), ("line by line", "  ")):
            file = Path(folder) / "vectors"
            file.write_text("".join(f"{x:08X} {y:08X}{gap}{z:08X} 00\n" for x, y, z in rows))

            def run(file: Path = file) -> None:
                with file.open("rb") as source:
                    unit = FloatUnit("add", source, "vectors", None, None, None, None, False)
                    answer = verify(unit, "golden", lambda _: None)
                assert (answer["rows"], answer["mismatches"]) == (VECTORS, 0)

            seconds[name] = best(run, 2)
            speed = f"{VECTORS / seconds[name]:,.0f} rows/s"
            yield Seconds(f"verify-float, a million rows {name}", seconds[name], speed)
    ratio = seconds["line by line"] / seconds["in chunks"]
    yield Ratio("verify-float, in chunks over line by line", ratio)
