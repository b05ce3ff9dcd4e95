"""A top behind its AXI shell."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from typing import Protocol, runtime_checkable

from merp.hdl.axi.axi_lite import AxiLite
from merp.hdl.axi.axi_shell import axi_shell
from merp.hdl.base.interface import SINK, SOURCE
from merp.hdl.base.signals import AxiStream, Bundles, flag
from merp.models.base.counters import meaning_of
from merp.models.base.register_map import (
    FLAGS,
    RegisterMap,
    Setting,
    Settings,
    check_settings,
    register_map,
)
from merp.models.machines.cnn_merp.params.cluster_design import NodeDesign
from merp.models.machines.cnn_merp.params.design import Design
from merp.models.machines.cnn_merp.params.fused_registers import second_settings
from merp.models.machines.cnn_merp.params.pipeline_design import PipelineDesign
from merp.models.machines.cnn_merp.params.settings import (
    add_unpool_settings,
    engine_settings,
    node_settings,
    pipeline_settings,
    propagation_settings,
    unpool_settings,
)
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.models.machines.mac_array.params.array_counters import array_meaning
from merp.models.machines.mac_array.params.design import Design as ArrayDesign
from merp.models.machines.mac_array.params.pass_registers import array_settings
from merp.models.machines.mac_array.params.schedule_registers import SCHEDULE
from merp.testbenches.top.top import Top


@runtime_checkable
class Described(Protocol):
    """A design that describes the registers and counters of its top."""

    @property
    def settings(self) -> Settings:
        """Legal range and meaning of every register, by the flattened name of its port."""

    @property
    def meanings(self) -> Mapping[str, str]:
        """The meaning of counters by name; others count words of a port."""


def axi_registers_of(top: Top) -> RegisterMap:
    """The register map of ``top`` behind its AXI shell.

    Raises:
        ValueError: a configuration port of the top has no known range.
    """
    known: dict[str, Setting] = {}
    meaning = meaning_of
    for name, parameter in top.parameters.items():
        if isinstance(parameter, PipelineDesign):
            known |= pipeline_settings(parameter)
        elif isinstance(parameter, NodeDesign):
            known |= node_settings(parameter)
        elif isinstance(parameter, Design):
            listed_as = {"propagation": propagation_settings, "second": second_settings}
            known |= listed_as.get(name, engine_settings)(parameter)
        elif isinstance(parameter, UnpoolDesign):
            listed = add_unpool_settings if name == "add_undone" else unpool_settings
            known |= listed(parameter)
        elif isinstance(parameter, ArrayDesign):
            known |= {**array_settings(parameter), **SCHEDULE.settings(parameter)}
            meaning = array_meaning
        elif isinstance(parameter, Described):
            known |= parameter.settings
            meaning = partial(_meaning, parameter.meanings)
    status = {pin.name.removeprefix("status_"): pin.width for pin in top.ports.status}
    return register_map(
        f"{top.name}_axi",
        version("merp"),
        # The kind of the arrays was a parameter once; the identity of a bitstream keeps it.
        repr(sorted([*top.parameters.items(), ("array", "rtl")])),
        check_settings([(pin.name, pin.width) for pin in top.ports.config], known),
        {name: width for name, width in status.items() if name not in FLAGS},
        meaning,
    )


def _meaning(own: Mapping[str, str], counter: str) -> str:
    return own.get(counter) or meaning_of(counter)


def axi_top(top: Top) -> Top:
    """``top`` in its AXI shell, with signals of its own: AXI4-Lite registers, AXI4-Stream ports.

    The result is for conversion; its registers are ``args["registers"]``, a ``RegisterMap``.

    Raises:
        ValueError: a configuration port of the top has no known range.
    """
    ports = top.interface
    streams = {
        side: vars(ports)[side]
        if ports.has(side)
        else Bundles(
            {
                name.removeprefix(f"{side}_"): AxiStream(len(each.tdata) // each.lanes, each.lanes)
                for name, each in found.items()
            }
        )
        for side, found in ((SINK, ports.sinks), (SOURCE, ports.sources))
    }
    return Top(
        axi_shell(top.function, ports, gathered="ports" in top.args),
        {
            "aclk": flag(),
            "aresetn": flag(),
            "s_axi": AxiLite(),
            **streams,
            "interrupt": flag(),
            "registers": axi_registers_of(top),
            "parameters": tuple(sorted(top.parameters.items())),
        },
    )
