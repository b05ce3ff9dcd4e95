"""Cycles of a run of a convolution module, exact if no stream waits.

F-CNN equation 10, but over the whole grid of a map instead of its outputs, as the kernels stream
over the border, too.
"""

from __future__ import annotations

from merp.models.machines.fcnn.params.conv_registers import ConvDesign, StreamRun


def cycles(run: StreamRun) -> int:
    """Return the cycles from the one after start to the last word.

    They are ``beats + latency`` if a pass is longer than the latency and than the load of its
    kernels. With stride 1 and an output that is not smaller than its map, ``beats`` is the
    formula ``n ceil(M/m) Rg Cg B/G + ((k - 1 - top) Cg + k - 1 - left) B/G``. An output that is
    smaller ends sooner, and a map whose last rows no window needs is read to its end.

    A pass begins with its first window. It waits for the beats of the pass before. It waits for its
    kernels, whose load begins when those of the pass before come into use. And it waits for the
    first partial sum, which must have left the module in the pass before.
    """
    grid, shape = run.grid, run.grid.shape
    latency = ConvDesign(run.design).latency
    begins = 0
    for number in range(grid.passes):
        block, given = divmod(number, shape.n)
        maps = grid.last_maps if block == grid.blocks - 1 else run.design.maps_at_once
        load = maps * shape.taps + 1
        if number == 0:
            begins = max(1 + grid.lead, load, maps + 1 if run.takes_biases else 0)
            continue
        waits = [grid.pass_beats, load]
        if given:
            waits.append(latency + 1)
        begins += max(waits)
    after = grid.last_input - grid.lead  # the last input, from the first window on
    return begins + max(grid.last_centre + latency, after)
