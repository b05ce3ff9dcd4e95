"""Views of a waveform: a save file for GTKWave, a command file for Surfer.

Both contain only signals of the waveform, by its names. They refer to its file without a folder, so
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
    """Return the signals of a waveform under the heads of a viewer.

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
    """Return a save file for the file ``waveform``.

    Args:
        waveform: name of the file.
        signals: its signals, with the range that it writes after each name.
        ports: ports of the top.
        last_time: its last time, in its unit; the view shows everything up to it.
    """
    text = StringIO()
    save = GTKWSave(text)
    save.dumpfile(waveform, abspath=False)
    # By default GTKWave shows the first unit of time, in which nothing changes. A frame of its zoom
    # has 200 pixels; the waves have about 300 in the initial window.
    save.zoom_markers(-log2(max(last_time, 1) * 200 / 300))
    for head, names in grouped(signals, ports).items():
        with save.group(head):
            for name in names:
                save.trace(".".join(name) + signals[name], alias=name[-1])
    return text.getvalue()


def surfer(signals: Mapping[Name, str], ports: TopPorts) -> str:
    """Return a command file."""
    lines: list[str] = []
    for head, names in grouped(signals, ports).items():
        lines.append(f"divider_add {head}")
        lines += [f"variable_add {'.'.join(name)}" for name in names]
    return "\n".join([*lines, "zoom_fit", ""])
