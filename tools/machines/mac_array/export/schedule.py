"""The passes of an image on a MAC array in order: registers, schedule words, arrays in memory.

``scheduled_trainer`` reads these words on ``s_axis_schedule``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from merp.cosim.machines.mac_array.phases.array_phase import ArrayPhase, ports_of, usual_rates
from merp.cosim.machines.mac_array.phases.scheduled_step import phases_at
from merp.cosim.machines.mac_array.phases.step_order import step_order
from merp.models.base.register_map import RegisterMap
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import USUAL_LOSS, ArrayDesign
from merp.models.machines.mac_array.params.schedule_layout import MAX_PASSES, OF_IMAGE
from merp.models.machines.mac_array.pass_words import pass_words
from merp.models.machines.mac_array.passes import design_of
from merp.models.machines.mac_array.schedule_words import schedule_words
from merp.models.network.branches import previous
from merp.models.network.network import Layer, Network
from merp.models.network.phases import PHASES
from merp.testbenches.mac_array.trainer_bench import registers
from merp.tools.fpga.export.operands import Operand

FIRST, LAST = OF_IMAGE

WORDS_IN_A_LINE = 12


@dataclass(frozen=True, kw_only=True)
class ScheduledPass:
    """A pass of an image.

    Attributes:
        layer: the layer.
        kind: kind of the pass, in one line.
        registers: values by name, with ``FIRST`` and ``LAST`` set as for a batch of one image.
        streams: the array in memory that each stream reads or writes, in some image of a batch.
    """

    layer: Layer
    kind: str
    registers: Mapping[str, int]
    streams: Mapping[str, Operand]


def phases_of_array(network: Network, *, fused: bool) -> Mapping[str, ArrayPhase]:
    """Return the phases of a network's array by name. The array computes the loss if it can."""
    design = design_of(network, network.layers[0])
    return phases_at(network, USUAL_LOSS if design.loss else None, fused=fused)


def scheduled(network: Network, images: int, *, fused: bool) -> Iterator[ScheduledPass]:
    """Return the passes of an image of a batch of ``images`` images.

    Args:
        fused: whether deltas are stored at pooled resolution and expanded at the input.
    """
    design = design_of(network, network.layers[0])
    phases, rates = phases_of_array(network, fused=fused), usual_rates(design, images)
    for name, layer, _ in step_order(network, network.layers, PHASES):
        for work in phases[name].works(layer, rates, first=True, last=True):
            yield ScheduledPass(
                layer=layer,
                kind=kind_of(work),
                registers=registers(work, design),
                streams=_streams(network, layer, work, design),
            )


def kind_of(work: ArrayPass) -> str:
    """Return the kind of a pass, without its image in the batch."""
    if work.phase == "upsample":
        return "un-pooling of deltas"
    behind = f", then the deltas of the {work.loss} loss" if work.loss else ""
    entry = ", deltas expanded on entry" if work.expands else ""
    return f"{work.phase}{behind}{entry}"


def _streams(
    network: Network, layer: Layer, work: ArrayPass, design: ArrayDesign
) -> dict[str, Operand]:
    front = previous(network, layer)
    of_front = None if front is None else front.name
    taken = Operand("images" if front is None else "maps", of_front)
    stored = "deltas of sums" if work.pool > 1 and not work.fused else "deltas"
    own, kernels = Operand(stored, layer.name), Operand("kernels", layer.name)
    found = {"kernel_in": kernels, "kernel_out": kernels}
    if work.phase == "fp":
        behind = ", deltas" if work.loss else ""
        made = Operand(f"maps{behind}", layer.name)
        found |= {"map_in": taken, "map_out": made, "target_in": Operand("classes", None)}
    elif work.phase == "dp":
        found |= {"map_in": own, "map_out": Operand("deltas", of_front)}
    elif work.phase == "upsample":
        found |= {"map_in": Operand("deltas", layer.name), "map_out": own}
    else:
        found |= {"map_in": taken, "delta_in": own}
        for each in ("gradient", "velocity"):
            array = Operand("velocities" if each == "velocity" else "gradients", layer.name)
            found |= {f"{each}_in": array, f"{each}_out": array}
    ends = replace(work, first=True, last=False), replace(work, first=False, last=True)
    moved = {port for each in ends for port in pass_words(each, design)}
    streams = ports_of(design)
    return {streams[port]: found[port] for port in streams if port in moved}


def words_of(passes: Sequence[ScheduledPass], design: ArrayDesign) -> list[list[int]]:
    """Return the words of each pass in the schedule memory; none if the memory is too small."""
    if len(passes) > MAX_PASSES:
        return [[] for _ in passes]
    words = schedule_words([each.registers for each in passes], design)
    found: list[list[int]] = words.reshape(len(passes), -1).tolist()
    return found


def schedule_json(
    network: str, images: int, passes: Sequence[ScheduledPass], design: ArrayDesign
) -> str:
    """Return the passes of an image for a program; ``images`` is the number of a batch."""
    document = {
        "network": network,
        "images": images,
        "first": FIRST,
        "last": LAST,
        "passes": [
            {
                "layer": each.layer.name,
                "kind": each.kind,
                "streams": {name: operand._asdict() for name, operand in each.streams.items()},
                "registers": dict(each.registers),
                "words": words,
            }
            for each, words in zip(passes, words_of(passes, design), strict=True)
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def schedule_header(
    registers: RegisterMap, images: int, passes: Sequence[ScheduledPass], design: ArrayDesign
) -> str:
    """Return a C99 header: settings and schedule words by pass, and a function to write settings.

    Args:
        registers: the register map; the header includes its header, by the name of its top.
    """
    top = registers.top
    prefix, guard = top.upper(), f"{top.upper()}_SCHEDULE_H"
    settings = registers.registers[registers.first_setting : registers.first_counter]
    first = settings[0].offset
    lines = [
        f"/* The passes of each of {images} image(s), in order. Generated; do not edit. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        f'#include "{top}.h"',
        "",
        f"#define {prefix}_PASSES {len(passes)}u",
        f"#define {prefix}_SETTINGS {len(settings)}u /* words of a pass, from {first:#x} on */",
        "",
        f"static const uint32_t {top}_passes[{prefix}_PASSES][{prefix}_SETTINGS] = {{",
    ]
    for number, each in enumerate(passes, 1):
        values = [each.registers[setting.name] for setting in settings]
        lines += _row(f"{number}: {each.layer.name}, {each.kind}", values)
    lines += ["};", ""]
    words = words_of(passes, design)
    if all(words):
        lines += [
            f"#define {prefix}_SCHEDULE_WORDS {len(words[0])}u /* of a pass in its memory */",
            "",
            "/* Input of scheduled_trainer on s_axis_schedule, all rows one after the other. */",
            f"static const uint32_t {top}_schedule[{prefix}_PASSES][{prefix}_SCHEDULE_WORDS] = {{",
        ]
        for number, values in enumerate(words, 1):
            lines += _row(str(number), values)
        lines += ["};", ""]
    lines += [
        "/* Writes the settings of a pass (from 0) of a batch's first or last image. */",
        f"static inline void {top}_write_pass(",
        "    volatile void *base, uint32_t pass, uint32_t first, uint32_t last)",
        "{",
        "    volatile uint32_t *word = (volatile uint32_t *)base;",
        "    uint32_t place;",
        f"    for (place = 0; place < {prefix}_SETTINGS; place++)",
        f"        word[{first // 4} + place] = {top}_passes[pass][place];",
        f"    word[{prefix}_{FIRST.upper()} / 4] = first; /* read by KU alone */",
        f"    word[{prefix}_{LAST.upper()} / 4] = last;",
        "}",
        "",
        f"#endif /* {guard} */",
    ]
    return "\n".join(lines) + "\n"


def _row(said: str, values: Sequence[int]) -> Iterator[str]:
    """Yield the lines of a row of a table in C."""
    yield f"    {{ /* {said} */"
    for low in range(0, len(values), WORDS_IN_A_LINE):
        line = (f"{value:#x}u," for value in values[low : low + WORDS_IN_A_LINE])
        yield f"        {' '.join(line)}"
    yield "    },"
