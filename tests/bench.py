"""Measure how fast this machine computes and simulates: ``make bench``.

Every figure is the best of its repetitions in this one run, with the machine named beside it;
ratios between figures are worth more than the figures.
"""

from __future__ import annotations

import json
import os
import platform
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import bench_myhdl
import numpy as np

from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.phases.cnn_merp.forward import forward_run, forward_top
from merp.hdl.conversion.convert import convert
from merp.models.arithmetic.fp_add import fp_add
from merp.models.golden.delta import delta_convolution
from merp.models.golden.inference import group_parameters
from merp.models.golden.initial import parameters
from merp.models.golden.kernel_update import kernel_gradient
from merp.models.golden.super_layer import super_layer
from merp.models.params.bits import Bits
from merp.models.params.formats import BINARY32, FloatFormat
from merp.models.params.shape import Shape
from merp.models.traffic.closed_form import network_traffic
from merp.tools.common.shipped import open_network
from merp.tools.common.table import console, fixed, table
from merp.tools.verify_float.tally import verify
from merp.tools.verify_float.units import FloatUnit
from training_speed import Speed, speeds

RESULT = Path("build/bench.json")


def machine() -> dict[str, Any]:
    """Name the machine: processor, cores that may be used, system and Python."""
    model = platform.processor()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return {
        "processor": model or platform.machine(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def best(task: Callable[[], Any], repeat: int) -> float:
    """Seconds of the fastest of ``repeat`` calls."""
    times = []
    for _ in range(repeat):
        began = perf_counter()
        task()
        times.append(perf_counter() - began)
    return min(times)


def simulations() -> list[tuple[str, float, str]]:
    """AlexNet's conv2, group 0, whole image, on each engine that runs whole layers."""
    network = open_network("alexnet")
    layer = network.layer("conv2")
    shape, design = layer.shape, network.design(layer)
    kernels, bias = group_parameters(layer, 0, *parameters(network, 0)["conv2"])
    rng = np.random.default_rng(0)
    size = (1, shape.rows, shape.columns, shape.n)
    x = np.abs(rng.standard_normal(size)).astype(np.float32).view(np.uint32)
    run = forward_run(shape, design, x, kernels, bias)
    figures = []
    for engine, array in (("myhdl", "behavioural"), ("verilator", "rtl")):
        (record,) = run_job(Job(forward_top(design, array), [run]), engine)
        speed = f"{record.outcome.cycles / record.outcome.seconds:,.0f} cycles/s"
        figures.append((f"conv2 on {engine} ({array} CU array)", record.outcome.seconds, speed))
        if engine == "verilator":
            figures.append(("its build (0 if kept from before)", record.build_seconds, ""))
    with tempfile.TemporaryDirectory() as folder:
        for language in ("vhdl", "verilog"):
            top = forward_top(design)
            began = perf_counter()
            convert(top.function, top.args, language, Path(folder) / language)
            seconds = perf_counter() - began
            figures.append((f"conv2 converted to {language}", seconds, ""))
    figures += _goldens(shape, design.fmt, x, kernels, bias)
    return figures


def _goldens(
    shape: Shape, fmt: FloatFormat, x: Bits, kernels: Bits, bias: Bits
) -> Iterator[tuple[str, float, str]]:
    delta = np.ones((1, shape.out_rows, shape.out_columns, shape.m), np.float32).view(np.uint32)
    gops = 2e-9 * shape.macs()
    tasks = {
        "fp": lambda: super_layer(x, kernels, bias, shape, fmt),
        "dp": lambda: delta_convolution(delta, kernels, shape, fmt),
        "ku": lambda: kernel_gradient(x, delta, shape, fmt),
    }
    for name, task in tasks.items():
        task()  # compiles
        seconds = best(task, 3)
        yield f"conv2 golden, {name}", seconds, f"{gops / seconds:.2f} Gop/s"


VECTORS = 1_000_000


def verified_rows() -> list[tuple[str, float, str]]:
    """``merp verify-float`` on the golden engine, rows in chunks and line by line.

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
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for name, gap in (("in chunks", " "), ("line by line", "  ")):
            file = Path(folder) / "vectors"
            file.write_text("".join(f"{x:08X} {y:08X}{gap}{z:08X} 00\n" for x, y, z in rows))

            def run(file: Path = file) -> None:
                with file.open("rb") as source:
                    unit = FloatUnit("add", source, "vectors", None, None, None, None, False)
                    answer = verify(unit, "golden", lambda _: None)
                assert (answer["rows"], answer["mismatches"]) == (VECTORS, 0)

            seconds = best(run, 2)
            speed = f"{VECTORS / seconds:,.0f} rows/s"
            figures.append((f"verify-float, a million rows {name}", seconds, speed))
    return figures


def traffic() -> list[tuple[str, float, str]]:
    """The closed form, all layers and phases."""
    figures = []
    for name in ("alexnet", "vgg16"):
        network = open_network(name)
        seconds = best(lambda network=network: network_traffic(network, 128), 20)
        figures.append((f"closed form of {name}", seconds, ""))
    return figures


def _training() -> list[Speed]:
    """Golden models beside PyTorch; nothing if that is not installed."""
    try:
        return list(speeds())
    except ImportError:
        return []


def main() -> None:
    """Measure, print, and keep the figures in ``build/bench.json``."""
    host = machine()
    myhdl_rows, myhdl_compared = bench_myhdl.figures()
    figures = [*traffic(), *verified_rows(), *simulations(), *myhdl_rows]
    by_name = {name: seconds for name, seconds, _ in figures}
    ratio = (
        by_name["conv2 on myhdl (behavioural CU array)"]
        / by_name["conv2 on verilator (rtl CU array)"]
    )
    by_line = (
        by_name["verify-float, a million rows line by line"]
        / by_name["verify-float, a million rows in chunks"]
    )
    trained = _training()
    screen = console()
    screen.print(", ".join(f"{key}: {value}" for key, value in host.items()))
    rows = [[name, fixed(seconds, 4), note] for name, seconds, note in figures]
    screen.print(table("", ["what", "seconds", ""], rows))
    screen.print(f"verilator (all RTL) is {ratio:.1f} times as fast as myhdl (behavioural array)")
    screen.print(f"verify-float is {by_line:.1f} times as fast in chunks as line by line")
    if trained:
        columns = ["network", "sums", "golden", "PyTorch", "times slower", "goal"]
        lines = [
            [
                s.network,
                s.kind,
                f"{s.golden:,.0f}",
                f"{s.torch:,.0f}",
                fixed(s.ratio, 1),
                str(s.goal),
            ]
            for s in trained
        ]
        screen.print(table("Training, images a second on one thread", columns, lines))
    else:
        screen.print("training beside PyTorch: not measured: pip install 'merp[bench]'")
    screen.print(myhdl_compared)
    RESULT.parent.mkdir(exist_ok=True)
    answer = {"machine": host, "seconds": by_name, "verilator_over_myhdl": ratio}
    answer["chunks_over_lines"] = by_line
    answer["training"] = [each._asdict() | {"times_slower": each.ratio} for each in trained]
    RESULT.write_text(json.dumps(answer, indent=2) + "\n")


if __name__ == "__main__":
    main()
