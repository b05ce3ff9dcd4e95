"""Check how long a wrong last of an input is reported."""

from merp.testbenches.block.trace import Trace


def check_told_until_start(trace: Trace, port: str) -> int:
    """The error of the first run is high up to the second start, and low after it.

    Returns the first cycle in which it is low.
    """
    second = [t for t, start in enumerate(trace.column("start")) if start][1]
    wrong = trace.column(port)
    assert wrong[second]
    assert not wrong[second + 1]
    return second + 1
