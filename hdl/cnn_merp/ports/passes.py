"""What a run's sums start at but biases, whether they leave for another run, and halves of one."""

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
    """Run-time registers of a pass, those of ``pass_table``."""

    def __init__(self, design: EngineDesign, table: LayerTable | None = None) -> None:
        super().__init__(table or pass_table(design), design)


class UpdatePassConfig(PassConfig):
    """The same of a kernel update, those of the table ``UPDATE_PASS``."""

    def __init__(self, design: EngineDesign) -> None:
        super().__init__(design, UPDATE_PASS)


class AddConfig(RegisterBundle):
    """Run-time registers of maps that are added several to a beat, those of the table ``ADD``."""

    def __init__(self, design: EngineDesign) -> None:
        super().__init__(ADD, design)


class TurnConfig(RegisterBundle):
    """Run-time registers of two groups that take turns, those of the table ``TURN``."""

    def __init__(self, design: EngineDesign) -> None:
        super().__init__(TURN, design)


class PartialIntake:
    """How partial sums come in."""

    def __init__(self, enable: Bit, wanted: Bit, filled: Bit, framing_error: Bit) -> None:
        self.enable = enable  # words may be taken: the biases of the run before are not needed
        self.wanted = wanted  # sums start at partial sums, not at biases
        self.filled = filled  # pulse: one more word of n_cu partial sums is there
        self.framing_error = framing_error  # last came with another word; until start


class PartialSums:
    """What the sequencer is told of partial sums."""

    def __init__(self) -> None:
        self.wanted = flag()  # sums start at them
        self.filled = flag()  # pulse: one more word of n_cu partial sums is there


class Half:
    """What one of the two halves of a pass tells: there its words and cycles are counted for it."""

    def __init__(self, design: EngineDesign) -> None:
        self.loaded = flag()  # it has what must be there before maps come
        self.verdict = Verdict(design)
        self.complete = flag()  # all its maps, or deltas, were accepted
        self.output_done = flag()  # all its words were transferred
        self.ends = flag()  # the last of them is
        self.map_error = flag()  # a last came with another word than its stream's last, of these
        self.load_error = flag()  # the same of its other streams

    @property
    def progress(self) -> RunProgress:
        """The same for who counts its cycles."""
        return RunProgress(**vars(self))


class RunProgress(GivenPorts):
    """What the counters of a run look at, each under its own name.

    ends         a transfer with the run's last word
    loaded       kernels and biases are there
    complete     all words that come into the datapath were accepted
    output_done  all words of the results were transferred
    verdict      the sequencer's: a slot, or why there is none
    map_error, load_error  a stream's last came with a wrong word
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
    """The signals of a ``RunProgress`` by name: those of a half of a pass, or an engine's own."""
    half = ports.half if ports.has("half") else Half(design)
    return dict(vars(half.progress))
