"""The shipped networks whose numbers are floats, on CNN-MERP."""

from merp.models.base.formats import FloatFormat
from merp.tools.common.shipped import open_network, shipped_names

FLOAT_NETWORKS = [
    name for name in shipped_names() if isinstance(open_network(name).numbers, FloatFormat)
]
