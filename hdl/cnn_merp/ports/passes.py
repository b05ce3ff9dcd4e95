"""Start values of the sums other than biases, raw sums for another run, and halves of a pass."""

from __future__ import annotations

from typing import Any

from merp.hdl.base.interface import GivenPorts, Interface, given_all
from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import flag
from merp.hdl.cnn_merp.ports.slots import Verdict
from merp.hdl.conversion.entity import Bit
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.fused_registers import TURN
from merp.models.machines.cnn_merp.params.kernel_update_registers import UPDATE_PASS
from merp.models.machines.cnn_merp.params.registers import ADD, LayerTable, pass_table


class PassConfig(RegisterBundle):
    """Run-time registers of a pass, from ``pass_table``."""

    def __init__(self, design: EngineDesign, table: LayerTable | None = None) -> None:
        super().__init__(table or pass_table(design), design)


class UpdatePassConfig(PassConfig):
    """Run-time registers of a pass of a kernel update, from the table ``UPDATE_PASS``."""

    def __init__(self, design: EngineDesign) -> None:
        super().__init__(design, UPDATE_PASS)


class AddConfig(RegisterBundle):
    """Run-time registers of added maps with several elements per beat, from the table ``ADD``."""

    def __init__(self, design: EngineDesign) -> None:
        super().__init__(ADD, design)


class TurnConfig(RegisterBundle):
    """Run-time registers of two groups that take turns, from the table ``TURN``."""

    def __init__(self, design: EngineDesign) -> None:
        super().__init__(TURN, design)


class PartialIntake:
    """Input of partial sums."""

    def __init__(self, enable: Bit, wanted: Bit, filled: Bit, framing_error: Bit) -> None:
        self.enable = enable  # words may be taken: the previous biases are no longer used
        self.wanted = wanted  # sums start at partial sums, not at biases
        self.filled = filled  # pulse: one more word of n_cu partial sums is complete
        self.framing_error = framing_error  # last arrived with a wrong word; until start


class PartialSums:
    """Partial sums as the sequencer sees them."""

    def __init__(self) -> None:
        self.wanted = flag()  # sums start at them
        self.filled = flag()  # pulse: one more word of n_cu partial sums is complete


class Half:
    """Progress of one of the two halves of a pass, whose words and cycles the pass counts."""

    def __init__(self, design: EngineDesign) -> None:
        self.loaded = flag()  # all data that must precede the maps is loaded
        self.verdict = Verdict(design)
        self.complete = flag()  # all its maps, or deltas, were accepted
        self.output_done = flag()  # all its words were transferred
        self.ends = flag()  # the last of them is transferred
        self.map_error = flag()  # a last of these streams arrived with a wrong word
        self.load_error = flag()  # a last of its other streams arrived with a wrong word

    @property
    def progress(self) -> RunProgress:
        """Return the same signals for the counters of its cycles."""
        return RunProgress(**vars(self))


class RunProgress(GivenPorts):
    """Signals that the counters of a run observe, each under its own name.

    ends                   a transfer with the last word of the run
    loaded                 kernels and biases are loaded
    complete               all words into the datapath were accepted
    output_done            all words of the results were transferred
    verdict                verdict of the sequencer: a slot, or the cause of a stall.
    map_error, load_error  last of a stream arrived with a wrong word
    """

    MEMBERS = given_all(
        ends=Bit,
        loaded=Bit,
        complete=Bit,
        output_done=Bit,
        verdict=Verdict,
        map_error=Bit,
        load_error=Bit,
    )


def run_signals(ports: Interface, design: EngineDesign) -> dict[str, Any]:
    """Return the signals of a ``RunProgress`` by name, from a half of a pass or from an engine."""
    half = ports.half if ports.has("half") else Half(design)
    return dict(vars(half.progress))
