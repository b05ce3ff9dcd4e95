"""The shipped networks whose numbers are floats, on CNN-MERP."""

from merp.models.network.registry import machine_that_runs
from merp.tools.common.shipped import open_network, shipped_names

FLOAT_NETWORKS = [
    name for name in shipped_names() if machine_that_runs(open_network(name)).name == "cnn-merp"
]
