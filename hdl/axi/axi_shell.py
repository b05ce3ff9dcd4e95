"""The AXI shell, which wraps any top in AXI4-Lite registers and AXI4-Streams.

Tops differ in their registers and streams, so the shell is generated from the bundles of its top.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from myhdl import Signal

from merp.hdl.axi.axi_lite import AxiLite, RegisterRead, RegisterWrite, axi_lite
from merp.hdl.axi.axi_registers import RunControl, axi_registers
from merp.hdl.axi.shell_reset import shell_reset
from merp.hdl.base.interface import SINK, SOURCE, Interface
from merp.hdl.base.signals import Bundles, flag
from merp.hdl.conversion.base.internals import AnySignal, initial
from merp.hdl.conversion.entity import Bit, entity
from merp.models.base.register_map import RegisterMap


def axi_shell(engine: Callable[..., Any], ports: Interface, *, gathered: bool = True) -> Any:
    """Generate the entity ``<engine>_axi``, which wraps ``engine``.

    Args:
        engine: the top, an entity.
        ports: bundles of the top.
        gathered: the top takes the bundles as one argument ``ports``, not one by one.
    """
    bundled = ports.has(SINK)

    def shell(
        aclk: Bit,
        aresetn: Bit,
        s_axi: AxiLite,
        s_axis: Bundles,
        m_axis: Bundles,
        interrupt: Bit,
        registers: RegisterMap,
        parameters: tuple[tuple[str, Any], ...],
    ) -> Any:
        """Connect the engine to AXI, so that software can set it up, start it and read its status.

        s_axi      in   AXI4-Lite access to the registers
        s_axis_*   in   AXI4-Stream inputs of the engine
        m_axis_*   out  AXI4-Stream outputs of the engine
        interrupt  out  high while the interrupt is enabled and pending: a run has ended

        Reset: aresetn, synchronous, active low, for at least three cycles; it abandons the run. An
        abort, which software writes to a register, resets only the engine. It may lower the valid
        of a stream before the offered word is transferred.
        """
        rst, engine_rst, start, abort, aborting = flag(), flag(), flag(), flag(), flag()
        settings = Bundles({name: _fresh(bundle) for name, bundle in ports.registers.items()})
        told = _fresh(ports.status)
        write, read = RegisterWrite(), RegisterRead()
        resets = shell_reset(
            clk=aclk,
            aresetn=aresetn,
            abort=abort,
            rst=rst,
            engine_rst=engine_rst,
            aborting=aborting,
        )
        bus = axi_lite(
            clk=aclk,
            rst=rst,
            s_axi=s_axi,
            write=write,
            read=read,
            words=len(registers.registers),
            first_writable=registers.first_writable,
            last_writable=registers.first_counter - 1,
        )
        file = axi_registers(
            clk=aclk,
            rst=rst,
            write=write,
            read=read,
            runs=RunControl(start, abort, aborting),
            settings=settings,
            status=told,
            interrupt=interrupt,
            registers=registers,
        )
        streams = {SINK: s_axis, SOURCE: m_axis}
        if not bundled:
            streams = {
                f"{side}_{name}": stream
                for side, bundle in streams.items()
                for name, stream in vars(bundle).items()
            }
        inside = ports.but(status=told, **vars(settings), **streams)
        arguments = {"ports": inside} if gathered else vars(inside)
        inner = engine(clk=aclk, rst=engine_rst, start=start, **arguments, **dict(parameters))
        return resets, bus, file, inner

    shell.__name__ = f"{engine.__name__}_axi"
    return entity(shell)


def _fresh(bundle: Any) -> Any:
    """Return the same bundle with new signals."""
    new = copy.copy(bundle)
    for name, value in vars(bundle).items():
        if isinstance(value, AnySignal):
            setattr(new, name, Signal(copy.copy(initial(value))))
        elif hasattr(value, "__dict__"):  # a nested bundle
            setattr(new, name, _fresh(value))
    return new
