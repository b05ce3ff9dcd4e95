"""Global control: runs every pass of a batch after one start.

Source: S. K. Venkataramanaiah et al., FPL 2019, section III.A and figure 3.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.dual_port_ram import dual_port_ram
from merp.hdl.base.interface import GivenPorts, given_all
from merp.hdl.base.signals import Bundles, Stream, bits, count, flag, signals_of
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.phases.schedule_register import schedule_register
from merp.hdl.mac_array.ports.schedule import ScheduleConfig
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.schedule_layout import MAX_PASSES, schedule_layout


class LayerSchedulePorts(GivenPorts):
    """Ports of the global control."""

    MEMBERS = given_all(
        config=ScheduleConfig,
        sink=Stream,
        settings=Bundles,
        pass_start=Bit,
        pass_done=Bit,
        pass_error=Bit,
        pass_over=Bit,
        busy=Bit,
        done=Bit,
        framing_error=Bit,
    )


@entity
def layer_schedule(
    clk: Bit, rst: Bit, start: Bit, ports: LayerSchedulePorts, design: ArrayDesign
) -> Any:
    """Keep the registers of up to 64 passes, and run these passes for each image of a batch.

    config         in   registers, stable from start to done
    sink           in   words of the passes, in a run that loads them; last with the final one
    settings       out  run-time registers of the pass. The image determines update_config_first and
                        update_config_last; the words of the pass determine all others.
    pass_start     out  pulse: the settings of the pass are valid
    pass_done      in   the pass is over; valid from the cycle after pass_start on
    pass_error     in   a stream of the pass was framed wrong; valid from the cycle after pass_start
                        on
    pass_over      out  pulse: the pass is over, in the first cycle of pass_done
    busy           out  a run is in progress
    done           out  the last pass of the run is over; until the next start
    framing_error  out  a stream of any pass, or the sink, was framed wrong; until the next start

    Latency: if a pass has W words, pass_start comes W + 2 cycles after start, or after pass_done of
    the previous pass. done comes one cycle after pass_done of the last pass. A run that loads words
    first takes a word per cycle. Reset: the run is abandoned; the memory keeps its words.
    """
    config, sink, settings = ports.config, ports.sink, ports.settings
    pass_start, pass_done, pass_error = ports.pass_start, ports.pass_done, ports.pass_error
    pass_over, busy, done = ports.pass_over, ports.busy, ports.done
    framing_error = ports.framing_error
    layout = schedule_layout(design)
    most = layout.words - 1
    loading, loaded, fetching = flag(), flag(), flag()
    settling, running = flag(), flag()
    steps, final, image_ends = flag(), flag(), flag()
    address = count(layout.depth - 1)
    number, place = count(most), count(most)
    placed = flag()
    stored = bits(len(sink.data))
    passes, images = count(MAX_PASSES), bits(len(config.images))  # passes and images left
    ends = flag()  # the pass is the last one of its image
    first, last = settings.update_config.first, settings.update_config.last

    @always_comb
    def take() -> None:
        loaded.next = loading and sink.valid
        sink.ready.next = loading

    @always_comb
    def end() -> None:
        pass_over.next = running and pass_done

    @always_comb
    def step() -> None:
        steps.next = loaded or fetching
        final.next = number == most
        image_ends.next = number == most and passes == 1

    @always(clk.posedge)
    def count_words() -> None:
        if steps:
            if final:
                number.next = 0
            else:
                number.next = number + 1
            if image_ends:
                address.next = 0
                passes.next = config.passes
            else:
                address.next = address + 1
                if final:
                    passes.next = passes - 1
        if start:
            number.next = 0
            address.next = 0
            passes.next = config.passes

    @always(clk.posedge)
    def control() -> None:
        settling.next = fetching and final
        pass_start.next = settling
        if fetching and final:
            fetching.next = False
            ends.next = image_ends
        if pass_start:
            running.next = True
        if loaded:
            if sink.last != image_ends:
                framing_error.next = True
            if image_ends:
                loading.next = False
                fetching.next = True
        if running and pass_error:
            framing_error.next = True
        if pass_over:
            running.next = False
            if ends and last:
                busy.next = False
                done.next = True
            else:
                fetching.next = True
        if start or rst:
            loading.next = config.load and not rst
            fetching.next = not config.load and not rst
            settling.next = False
            pass_start.next = False
            running.next = False
            framing_error.next = False
            busy.next = not rst
            done.next = False

    @always(clk.posedge)
    def count_images() -> None:
        first.next = images == config.images
        last.next = images == 1
        if pass_over and ends:
            images.next = images - 1
        if start:
            images.next = config.images

    @always(clk.posedge)
    def hand_on() -> None:
        placed.next = fetching
        place.next = number

    schedule_ram = dual_port_ram(
        clk, write=loaded, write_addr=address, data=sink.data, read_addr=address, word=stored,
        words=layout.depth,
    )  # fmt: skip
    signals = dict(signals_of(settings))
    registers = [
        schedule_register(
            clk, placed=placed, place=place, word=stored, value=signals[name], at=where.word,
            low=where.low, width=where.width,
        )
        for name, where in layout.places.items()
    ]  # fmt: skip
    return take, end, step, count_words, control, count_images, hand_on, schedule_ram, registers
