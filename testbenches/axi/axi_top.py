"""Build a top in its AXI shell, and its register map."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib.metadata import version

from merp.hdl.axi.axi_lite import AxiLite
from merp.hdl.axi.axi_shell import axi_shell
from merp.hdl.base.interface import SINK, SOURCE
from merp.hdl.base.signals import AxiStream, Bundles, flag
from merp.models.base.counters import meaning_of
from merp.models.base.register_map import (
    FLAGS,
    RegisterMap,
    check_settings,
    register_map,
)
from merp.testbenches.top.top import Top


def axi_registers_of(top: Top) -> RegisterMap:
    """Build the register map of ``top`` in its AXI shell.

    Raises:
        ValueError: a configuration port of the top has no known range.
    """
    said = top.described
    status = {pin.name.removeprefix("status_"): pin.width for pin in top.ports.status}
    return register_map(
        f"{top.name}_axi",
        version("merp"),
        # The kind of the arrays was a parameter in the past. It stays in the text that identifies
        # a bitstream, so that the hash does not change.
        repr(sorted([*top.parameters.items(), ("array", "rtl")])),
        check_settings([(pin.name, pin.width) for pin in top.ports.config], said.settings),
        {name: width for name, width in status.items() if name not in FLAGS},
        partial(_meaning, said.meanings),
    )


def _meaning(own: Mapping[str, str], counter: str) -> str:
    return own.get(counter) or meaning_of(counter)


def axi_top(top: Top) -> Top:
    """Put ``top`` into its AXI shell, with new signals: AXI4-Lite registers, AXI4-Stream ports.

    The result is for conversion. Its registers are ``args["registers"]``, a ``RegisterMap``.

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
