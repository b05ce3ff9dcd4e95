"""Many designs side by side: each one in MyHDL, and all of them in one simulation of an engine.

``verdicts`` says of each design whether its HDL gives the same bits as MyHDL in every cycle::

    verdicts([Design("adder", adder, ports, ("a", "b"))], "ghdl", tmp_path)  # {"adder": "equal"}

A verdict is ``equal``, or begins with one of these words and a colon:

``refused``     the converter raises ``ExportError``.
``invalid``     the HDL does not compile, cuts a value, or the converter fails otherwise.
``differs``     an output has other bits than in MyHDL, or the simulation ends early.
``simulation``  the design raises in MyHDL or drives no output: it says nothing of the converter.

The timing is that of ``merp.replay``: inputs change while the clock is low, samples are taken just
before its rising edge, from power-up on.
"""

from side_by_side.comparing import LANGUAGES, verdicts
from side_by_side.design import Design

__all__ = ["LANGUAGES", "Design", "verdicts"]
