"""AlexNet's conv2, group 0, whole image: simulated, converted, and in the golden models."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np

from measured import Ratio, Seconds, best
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.machines.cnn_merp.phases.forward import forward_run, forward_top
from merp.hdl.conversion.convert import convert
from merp.models.base.bits import Bits
from merp.models.base.shape import Shape
from merp.models.golden.delta import delta_convolution
from merp.models.golden.inference import group_parameters
from merp.models.golden.initial import parameters
from merp.models.golden.kernel_update import kernel_gradient
from merp.models.golden.super_layer import super_layer
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.tools.common.shipped import open_network


def figures() -> Iterator[Seconds | Ratio]:
    """The engines that run whole layers, both languages, and the three phases."""
    network = open_network("alexnet")
    layer = network.layer("conv2")
    shape, design = layer.shape, design_of(network, layer)
    kernels, bias = group_parameters(layer, 0, *parameters(network, 0)["conv2"])
    rng = np.random.default_rng(0)
    size = (1, shape.rows, shape.columns, shape.n)
    x = np.abs(rng.standard_normal(size)).astype(np.float32).view(np.uint32)
    yield from _goldens(shape, design, x, kernels, bias)
    yield from _conversions(design)
    yield from _simulations(shape, design, x, kernels, bias)


def _simulations(
    shape: Shape, design: EngineDesign, x: Bits, kernels: Bits, bias: Bits
) -> Iterator[Seconds | Ratio]:
    run = forward_run(shape, design, x, kernels, bias)
    seconds = {}
    for engine, array in (
        ("verilator", "rtl"), ("verilator", "behavioural"), ("myhdl", "behavioural"),
    ):  # fmt: skip
        (record,) = run_job(Job(forward_top(design, array), [run]), engine)
        seconds[engine, array] = record.outcome.seconds
        speed = f"{record.outcome.cycles / record.outcome.seconds:,.0f} cycles/s"
        yield Seconds(f"conv2 on {engine} ({array} CU array)", record.outcome.seconds, speed)
        if engine == "verilator":
            yield Seconds("its build (0 if kept from before)", record.build_seconds)
    rtl, cpp, myhdl = seconds.values()
    yield Ratio("verilator, all RTL, over myhdl", myhdl / rtl)
    yield Ratio("verilator, CU array in C++, over all RTL", rtl / cpp)


def _conversions(design: EngineDesign) -> Iterator[Seconds]:
    with tempfile.TemporaryDirectory() as folder:
        for language in ("vhdl", "verilog"):
            top = forward_top(design)
            began = perf_counter()
            convert(top.function, top.args, language, Path(folder) / language)
            yield Seconds(f"conv2 converted to {language}", perf_counter() - began)


def _goldens(
    shape: Shape, design: EngineDesign, x: Bits, kernels: Bits, bias: Bits
) -> Iterator[Seconds]:
    delta = np.ones((1, shape.out_rows, shape.out_columns, shape.m), np.float32).view(np.uint32)
    gops = 2e-9 * shape.macs()
    tasks = {
        "fp": lambda: super_layer(x, kernels, bias, shape, design.fmt),
        "dp": lambda: delta_convolution(delta, kernels, shape, design.fmt),
        "ku": lambda: kernel_gradient(x, delta, shape, design.fmt),
    }
    for name, task in tasks.items():
        task()  # compiles
        seconds = best(task, 3)
        yield Seconds(f"conv2 golden, {name}", seconds, f"{gops / seconds:.2f} Gop/s")
