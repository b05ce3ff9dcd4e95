"""Moments of random lists, for an abort or a reset."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

Pins = Mapping[str, int]
EVENTS: dict[str, Callable[[Pins], int]] = {
    "a cycle": lambda pins: 1,
    "AR": lambda pins: pins["m_axi_arvalid"],
    "AW": lambda pins: pins["m_axi_awvalid"],
    "AW taken": lambda pins: pins["m_axi_awvalid"] and pins["m_axi_awready"],
    "W": lambda pins: pins["m_axi_wvalid"] and not pins["m_axi_wlast"],
    "WLAST": lambda pins: pins["m_axi_wvalid"] and pins["m_axi_wlast"],
    "B": lambda pins: pins["m_axi_bvalid"],
    "R": lambda pins: pins["m_axi_rvalid"],
    "RLAST": lambda pins: pins["m_axi_rvalid"] and pins["m_axi_rlast"],
    "a sum": lambda pins: pins["streams_sum_valid"] and pins["streams_sum_ready"],
    "a copy": lambda pins: pins["streams_target_valid"] and pins["streams_target_ready"],
    "an access": lambda pins: pins["engines_adder_awvalid"] or pins["engines_copier_arvalid"],
}
"""Moments for an abort or a reset, by the pins of the cycle before."""


@dataclass
class Trigger:
    """A moment: the first cycle that is ``delay`` cycles after ``times`` cycles with an event."""

    event: str
    times: int
    delay: int

    def now(self, pins: Pins) -> bool:
        """Whether this is the moment. It is called once a cycle."""
        if self.times > 0:
            self.times -= bool(EVENTS[self.event](pins))
            return False
        self.delay -= 1
        return self.delay == -1


def drawn_trigger(rng: Random) -> Trigger:
    """A trigger that often comes within a list."""
    event = rng.choice(["a cycle"] * 4 + list(EVENTS))
    times = rng.randint(1, 700) if event == "a cycle" else rng.choice([1, 2, 3, rng.randint(1, 40)])
    return Trigger(event, times, rng.randrange(7))
