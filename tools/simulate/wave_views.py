"""What viewers are to show of a waveform: a save file for GTKWave, a command file for Surfer.

Both name only what is in the waveform, as it is called there; the file goes by its bare name, so
that the set can be moved.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from math import log2

from vcd.gtkw import GTKWSave

from merp.cosim.phases.audit.wave_file import Name
from merp.testbenches.top.top import CONTROL, TopPorts


def grouped(signals: Mapping[Name, str], ports: TopPorts) -> dict[str, list[Name]]:
    """The signals of a waveform under the heads that a viewer shows them by.

    First the ports: control, each stream, registers, status; then each instance by its path.
    """
    depth = min(map(len, signals))
    top = {name[-1]: name for name in signals if len(name) == depth}
    heads = {"control": list(CONTROL)}
    for stream in ports.streams:
        fields = ("tdata", "tvalid", "tready", "tlast")
        heads[stream.name] = [f"{stream.name}_{field}" for field in fields]
    heads["config"] = [pin.name for pin in ports.config]
    heads["status"] = [pin.name for pin in ports.status]
    groups = {head: [top[port] for port in listed if port in top] for head, listed in heads.items()}
    shown = {name for names in groups.values() for name in names}
    for name in signals:
        if name not in shown:
            groups.setdefault(".".join(name[:-1]) or "top", []).append(name)
    return {head: names for head, names in groups.items() if names}


def gtkwave(waveform: str, signals: Mapping[Name, str], ports: TopPorts, last_time: int) -> str:
    """A save file for the file ``waveform``.

    signals: those of it, with the range that it writes behind each name. last_time: of it, in its
    unit; the save file shows all up to there.
    """
    text = StringIO()
    save = GTKWSave(text)
    save.dumpfile(waveform, abspath=False)
    # Without it GTKWave shows the first unit of time, in which nothing changes. A frame of its zoom
    # is 200 pixels; the waves have about 300 in the window that it opens.
    save.zoom_markers(-log2(max(last_time, 1) * 200 / 300))
    for head, names in grouped(signals, ports).items():
        with save.group(head):
            for name in names:
                save.trace(".".join(name) + signals[name], alias=name[-1])
    return text.getvalue()


def surfer(signals: Mapping[Name, str], ports: TopPorts) -> str:
    """A command file."""
    lines: list[str] = []
    for head, names in grouped(signals, ports).items():
        lines.append(f"divider_add {head}")
        lines += [f"variable_add {'.'.join(name)}" for name in names]
    return "\n".join([*lines, "zoom_fit", ""])
