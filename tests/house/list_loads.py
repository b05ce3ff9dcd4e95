"""The loads of bitstreams in a session of lists, as a model of ICAPE2 decodes them."""

from collections.abc import Mapping

from merp.testbenches.memory.icape2 import Icape2


class ListLoads:
    """Compare the loads on the pins with those that are planned.

    Attributes:
        busy: whether a load is being sent.
    """

    def __init__(self) -> None:
        self.icap = Icape2()
        self.busy = False
        self._known = 0
        self._open: list[int] = []

    def sample(self, pins: Mapping[str, int], owed: int, where: str) -> None:
        """Follow the pins of a cycle.

        Args:
            pins: of the subsystem.
            owed: bursts that memory has not answered.
            where: begins the message.

        Raises:
            AssertionError: a word is sent while a burst is owed, or breaks a rule of ICAPE2.
        """
        self.busy = not pins["icap_rdwrb"]
        self.icap.sample(*(pins[f"icap_{each}"] for each in ("clk", "csib", "rdwrb", "i")))
        assert not (self.busy and owed), f"{where}: a load while {owed} bursts are owed"
        assert not self.icap.faults, f"{where}: {self.icap.faults}"

    def ended(self, planned: list[int], where: str) -> None:
        """Check the loads up to the end of a list, which has loaded ``planned``.

        Raises:
            AssertionError: other bitstreams were loaded.
        """
        found = self.icap.loads[self._known :]
        allowed = [planned, [*self._open, *planned]]
        assert found in allowed, f"{where}: loads {found}, not {planned} after {self._open}"
        self._known, self._open = len(self.icap.loads), []

    def broken_off(self, planned: list[int]) -> None:
        """Note that a reset ends a list; a load of it that was being sent is completed."""
        self._open = [*self._open, *planned]
