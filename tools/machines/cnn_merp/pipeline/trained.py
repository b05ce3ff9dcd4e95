"""Output of a training in a pipeline."""

from __future__ import annotations

from merp.tools.machines.cnn_merp.at_once.trained import ON_PORTS, engines
from merp.tools.train.trained import Shown

TRAINED = Shown(on_ports=ON_PORTS, tables=engines)
