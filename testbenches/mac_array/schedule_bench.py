"""Test runs of a schedule; a model with passes of random length replaces the array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from merp.hdl.base.signals import Stream, flag
from merp.hdl.mac_array.phases.layer_schedule import LayerSchedulePorts, layer_schedule
from merp.hdl.mac_array.ports.schedule import ScheduleConfig
from merp.hdl.mac_array.ports.settings import pass_settings
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.schedule_layout import SCHEDULE_BITS
from merp.testbenches.block.trace import Sample, Trace, run_block

INPUTS = (
    "rst", "start", "config_passes", "config_images", "config_load", "sink_data", "sink_valid",
    "sink_last", "pass_done", "pass_error",
)  # fmt: skip
SETTINGS = "settings_"
"""Prefix of the names of the registers."""

PAUSE = 3
"""Cycles between runs."""

RESET_PAUSE = 60
"""Cycles after a reset: a wrongly started pass would begin within them."""


@dataclass(frozen=True)
class ScheduleSession:
    """A run of a schedule.

    Attributes:
        passes, images: values of the registers.
        words: the schedule that the run loads; if empty, it loads none.
        rate: probability of a new word in a cycle.
        lasts: positions of the words with ``last``; None is the final word.
        wrong: numbers of passes with an error, counted over all images.
        reset_at: cycle of a reset.
    """

    passes: int
    images: int
    words: Sequence[int] = ()
    rate: float = 1.0
    lasts: Sequence[int] | None = None
    wrong: Sequence[int] = ()
    reset_at: int | None = None


@dataclass
class Played:
    """The observations of a session; cycles are counted from its start.

    Attributes:
        begun: the cycle in which each pass starts.
        ended: the cycle in which each pass is done.
        settings: the registers of each pass, stable from its start to its end.
        loaded: cycle of the last word.
        done: cycle in which the run is done; -1 if it was reset.
        error: value of ``framing_error`` in this cycle.
    """

    begun: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    settings: list[dict[str, int]] = field(default_factory=list)
    loaded: int = 0
    done: int = -1
    error: int = 0


def schedule_arguments(design: ArrayDesign) -> dict[str, Any]:
    """Create the arguments of ``layer_schedule``."""
    pulses = ("pass_start", "pass_done", "pass_error", "pass_over", "busy", "done", "framing_error")
    ports = LayerSchedulePorts(
        config=ScheduleConfig(design),
        sink=Stream(SCHEDULE_BITS),
        settings=pass_settings(design),
        **{name: flag() for name in pulses},
    )
    return {"clk": flag(), "rst": flag(), "start": flag(), "ports": ports, "design": design}


class _Play:
    """The stimulus of consecutive sessions, and the observations."""

    def __init__(self, sessions: Sequence[ScheduleSession], seed: int) -> None:
        self.played: list[Played] = []
        self._sessions = list(sessions)
        self._rng = Random(seed)
        self._pause = PAUSE
        self._t = self._sent = self._left = 0
        self._held = self._done = self._error = False

    def drive(self, cycle: int, seen: Sample) -> Mapping[str, int]:
        """Return the inputs of a cycle."""
        if cycle == 0:
            return dict.fromkeys(INPUTS, 0) | {"rst": 1}
        if self._pause:
            return self._wait(seen)
        session, played = self._sessions[len(self.played) - 1], self.played[-1]
        self._look(session, played, seen)
        self._t += 1
        if played.done >= 0 or self._t - 1 == session.reset_at:
            reset = played.done < 0
            self._pause, self._held, self._left = RESET_PAUSE if reset else PAUSE, False, 0
            if reset:  # reset has priority over start; done and error of the pass are ignored
                self._done = self._error = True
            said = {"pass_done": int(self._done), "pass_error": int(self._error)}
            starts = reset and self._rng.random() < 0.5
            return {"rst": int(reset), "start": int(starts), "sink_valid": 0} | said
        return {"start": 0} | self._sink(session) | self._pass(session, played)

    def _wait(self, seen: Sample) -> Mapping[str, int]:
        self._pause -= 1
        if not seen["rst"]:
            assert not seen["busy"]
            assert not seen["sink_ready"]
            assert not seen["pass_start"]
        if len(self.played) == len(self._sessions):
            self._pause = 1
        if self._pause:
            return {"rst": 0, "start": 0}
        self.played.append(Played())
        self._t = self._sent = 0
        session = self._sessions[len(self.played) - 1]
        return {
            "start": 1, "config_passes": session.passes, "config_images": session.images,
            "config_load": int(len(session.words) > 0),
        } | self._sink(session)  # fmt: skip

    def _sink(self, session: ScheduleSession) -> dict[str, int]:
        more = self._sent < len(session.words)
        if more and (self._held or self._rng.random() < session.rate):
            lasts = session.lasts or [len(session.words) - 1]
            self._held = True
            return {"sink_valid": 1, "sink_data": session.words[self._sent],
                    "sink_last": int(self._sent in lasts)}  # fmt: skip
        # Words of a later run may wait on the port.
        return {"sink_valid": int(not more), "sink_data": self._rng.getrandbits(SCHEDULE_BITS)}

    def _look(self, session: ScheduleSession, played: Played, seen: Sample) -> None:
        """Record the previous cycle, which was cycle ``t`` of the session."""
        assert not seen["sink_ready"] or self._sent < len(session.words)
        if seen["sink_valid"] and seen["sink_ready"]:
            self._sent, self._held = self._sent + 1, False
            played.loaded = self._t
        settings = {name: value for name, value in seen.items() if name.startswith(SETTINGS)}
        if seen["pass_start"]:
            played.begun.append(self._t)
            played.settings.append(settings)
            self._left, self._done = self._rng.randint(1, 9), False
            self._error = False
        elif self._left:
            assert settings == played.settings[-1]
            self._left -= 1
            if not self._left:
                self._done = True
        if seen["pass_over"]:
            played.ended.append(self._t)
            assert seen["pass_done"]
        if seen["done"] and self._t:
            played.done, played.error = self._t, seen["framing_error"]
            assert not seen["busy"]
        else:
            assert seen["busy"] or not self._t

    def _pass(self, session: ScheduleSession, played: Played) -> dict[str, int]:
        """Return done and error of the pass; both stay high until the next start."""
        number = len(played.begun) - 1
        self._error |= self._left == 1 and number in session.wrong
        return {"pass_done": int(self._done), "pass_error": int(self._error)}


def play(
    design: ArrayDesign, sessions: Sequence[ScheduleSession], cycles: int, seed: int = 1
) -> tuple[list[Played], Trace]:
    """Run sessions back to back; return the observations and the trace of all ports."""
    stimulus = _Play(sessions, seed)
    trace = run_block(
        layer_schedule, schedule_arguments(design), INPUTS, stimulus.drive, cycles, quick=True
    )
    return stimulus.played, trace
