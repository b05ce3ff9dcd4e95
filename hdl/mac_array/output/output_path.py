"""From the words of a pixel of all lanes to the stream of atoms, in FP and DP."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.delay import delay
from merp.hdl.base.dual_port_ram import dual_port_ram
from merp.hdl.base.flag_counter import flag_counter
from merp.hdl.base.lane import flags_within
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.output.atom_sender import atom_sender
from merp.hdl.mac_array.output.mask_memory import mask_memory
from merp.hdl.mac_array.output.output_buffer import output_buffer
from merp.hdl.mac_array.output.pool_position import pool_position
from merp.hdl.mac_array.output.scaling import scaling
from merp.hdl.mac_array.output.tile_drain import tile_drain
from merp.hdl.mac_array.output.tile_walk import tile_walk
from merp.hdl.mac_array.ports.kernels import BiasTileWrite
from merp.hdl.mac_array.ports.outputs import (
    ArrayOutputConfig,
    AtomGroup,
    IndexWrite,
    Outputs,
    Pixel,
    Tile,
)
from merp.hdl.mac_array.ports.pooling import Pooling
from merp.hdl.mac_array.ports.rounding import PixelWords, Readout
from merp.hdl.mac_array.ports.sending import Sending
from merp.hdl.streams.credit_source import credit_source
from merp.models.machines.mac_array.params.design import ArrayDesign

TO_WORDS = 6
"""Cycles from the place of a pixel to its words: the second rank and the rounding."""

TO_ATOM = 2
"""Cycles from the row and lane of an atom to the atom."""

FIFO_WORDS = 8
"""Atoms between the buffer and the port: those in the pipeline until a credit returns."""


@block
def _kept(
    clk: Bit,
    clear: Bit,
    config: ArrayOutputConfig,
    sending: Sending,
    atom: Word,
    indices: Word,
    scaled: Word,
    index: IndexWrite,
    design: ArrayDesign,
) -> Any:
    """Keep masks of the sent atoms and places of their maxima; in DP apply the masks.

    atom, indices  in   valid TO_ATOM cycles after sending
    scaled         out  with them: the atom to send
    index          out  with them: write port of the index memory
    """
    mask = bits(design.pox)
    mask_read, mask_write, write, index_write = (flag() for _ in range(4))
    read_addr, write_addr = count(design.mask_words - 1), count(design.mask_words - 1)
    index_addr = count(design.index_words - 1)

    @always(clk.posedge)
    def address() -> None:
        # Numbers of atoms that no memory keeps may exceed its range.
        mask_read.next = sending.issue and config.masked
        mask_write.next = sending.issue and config.kept
        index_write.next = sending.issue and config.indexed
        read_addr.next = 0
        index_addr.next = 0
        if sending.issue and (config.masked or config.kept):
            read_addr.next = config.mask_base + sending.number
        if sending.issue and config.indexed:
            index_addr.next = config.index_base + sending.number

    @always_comb
    def give_indices() -> None:
        index.data.next = indices

    return (
        address,
        give_indices,
        valid_delay(clk, clear, d=mask_write, q=write, cycles=TO_ATOM - 1),
        delay(clk, d=read_addr, q=write_addr, cycles=TO_ATOM - 1),
        mask_memory(
            clk,
            write=write,
            write_addr=write_addr,
            atom=atom,
            read=mask_read,
            read_addr=read_addr,
            mask=mask,
            words=design.mask_words,
            limit=config.get("limit"),
        ),
        valid_delay(clk, clear, d=index_write, q=index.enable, cycles=TO_ATOM - 1),
        delay(clk, d=index_addr, q=index.addr, cycles=TO_ATOM - 1),
        scaling(atom=atom, mask=mask, scaled=scaled),
    )


@entity
def output_path(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: ArrayOutputConfig,
    bias: BiasTileWrite,
    readout: Readout,
    pixels: PixelWords,
    outputs: Outputs,
    saturated: Word,
    design: ArrayDesign,
) -> Any:
    """Read tile after tile, pool it, and send the outputs in atoms.

    config     in       registers, stable from start on
    bias       in       write port of the bias memory
    readout    in, out  reads the sums of a tile from the second rank
    pixels     in, out  biases of the tile, and the words of its pixels
    outputs    out      atoms in the order band of rows, row phase, tile of maps, tile of columns,
                        lane, row. The atoms of all column phases of a row follow each other. With
                        each atom: the places of its maxima
    saturated  out      number of clipped words of pixels inside the map, since start

    A tile is read immediately, except the first tile of a group whose half of the buffer is not
    free. Latency: the first atom of a group is offered twelve cycles after its last pixel was read.
    Throughput: a pixel of all lanes read per cycle, an atom sent per cycle. Reset: as start, the
    pass is at its beginning, and no atom is offered; masks and biases stay.
    """
    tile, pixel = Tile(design), Pixel(design)
    group, ready = AtomGroup(design), AtomGroup(design)
    pooling, placed = Pooling(design), Pooling(design)
    sending = Sending(design)
    words, clipped, biases = pixels.words, pixels.clipped, pixels.biases
    clear, freed, room, push = (flag() for _ in range(4))
    stored = bits(design.parameter_bits)

    @always_comb
    def begin() -> None:
        clear.next = rst or start

    @always_comb
    def give_biases() -> None:
        biases.next = 0
        if config.biased:
            biases.next = stored

    reading = [
        begin,
        give_biases,
        dual_port_ram(
            clk,
            write=bias.enable,
            write_addr=bias.addr,
            data=bias.data,
            read_addr=tile.maps,
            word=stored,
            words=design.max_tiles,
        ),
        tile_walk(clk, start, advance=readout.drained, config=config, tile=tile, design=design),
        tile_drain(
            clk,
            rst,
            start,
            readout=readout,
            tile=tile,
            freed=freed,
            pixel=pixel,
            group=group,
            design=design,
        ),
        pool_position(clk, config=config, pixel=pixel, pooling=pooling, design=design),
    ]

    late = [
        valid_delay(clk, clear, d=pooling.valid, q=placed.valid, cycles=TO_WORDS - 1),
        *(
            delay(clk, d=getattr(pooling, name), q=getattr(placed, name), cycles=TO_WORDS - 1)
            for name in vars(pooling)
            if name != "valid"
        ),
        # A group can be read two cycles after its last pixel has arrived.
        valid_delay(clk, clear, d=group.valid, q=ready.valid, cycles=TO_WORDS + 1),
        delay(clk, d=group.atoms, q=ready.atoms, cycles=TO_WORDS + 1),
        delay(clk, d=group.rows, q=ready.rows, cycles=TO_WORDS + 1),
        delay(clk, d=group.lanes, q=ready.lanes, cycles=TO_WORDS + 1),
        delay(clk, d=group.number, q=ready.number, cycles=TO_WORDS + 1),
    ]

    lanes, beyond = count(design.pof), bits(design.pof)
    counting = [
        delay(clk, d=pixel.lanes, q=lanes, cycles=TO_WORDS),
        flags_within(valid=placed.valid, counted=lanes, flags=clipped, kept=beyond),
        flag_counter(clk, clear=clear, flags=beyond, total=saturated),
    ]

    atom, scaled = bits(design.atom_bits), bits(design.atom_bits)
    indices = bits(design.pox * design.index_bits)
    leaving = [
        output_buffer(
            clk,
            pooling=placed,
            words=words,
            sending=sending,
            atom=atom,
            indices=indices,
            design=design,
        ),
        atom_sender(
            clk,
            clear,
            config=config,
            group=ready,
            room=room,
            sending=sending,
            freed=freed,
            design=design,
        ),
        valid_delay(clk, clear, d=sending.issue, q=push, cycles=TO_ATOM),
        _kept(
            clk, clear, config=config, sending=sending, atom=atom, indices=indices, scaled=scaled,
            index=outputs.index, design=design,
        ),
        credit_source(
            clk,
            clear,
            total=config.atoms,
            taken=sending.issue,
            room=room,
            push=push,
            data=scaled,
            source=outputs.atoms,
            words=FIFO_WORDS,
        ),
    ]  # fmt: skip
    return reading, late, counting, leaving
