"""A network, to be asked: what it moves, what it computes, what it becomes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING

from merp.models.base.errors import BadInput, NoSuchKey, shown
from merp.models.base.given import as_arguments
from merp.models.base.state_field import STATES
from merp.models.fpga.order_codes import target_named
from merp.models.fpga.parts import DEFAULT
from merp.models.machines.cnn_merp.chain.shares import MAX_PACE
from merp.models.machines.cnn_merp.one_pass import check_backward
from merp.models.network import network as description
from merp.models.network.network_keys import BACKWARD, MAX_MAPS, MAX_SIZE
from merp.models.network.phases import NAMED, pair_named
from merp.tools.common.arguments import ARCHITECTURES, MOST_DEPTH, MOST_DEVICES
from merp.tools.common.boards import open_board
from merp.tools.export.languages import DIALECTS, VHDL
from merp.tools.export.selection import MOST_IMAGES as MOST_EXPORTED
from merp.tools.export.selection import select
from merp.tools.library.checks import (
    array_of,
    below,
    flag,
    listener,
    not_negative,
    one_of,
    path,
    path_or_none,
    positive,
    text,
    wave_place,
    whole_number,
    whole_or_none,
    with_backward,
)
from merp.tools.library.layer import DELTAS, Layer
from merp.tools.library.rows import Rows, layer_row
from merp.tools.library.traffic import Traffic, footing_of
from merp.tools.simulate.choose import (
    ALL,
    ARRAYS,
    MOST_CUS,
    MOST_IMAGES,
    check_resume,
    check_room,
    pick,
)
from merp.tools.simulate.choosers import choose
from merp.tools.train.course import (
    ENGINES,
    LOSSES,
    MOMENTUM,
    MOST_BATCH,
    MOST_EPOCHS,
    MOST_PATIENCE,
    MOST_STEPS,
    PROCESSES,
    RATE,
    Course,
    at_once_of,
    engine_of,
    going_back,
    schedule,
    state_kept,
    target_of,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from merp.tools.library.exports import Exports
    from merp.tools.library.plan import Plan
    from merp.tools.library.simulation import Simulation
    from merp.tools.library.training import Training

SEEDS = (1 << 32) - 1
"""The largest seed."""

Place = str | PathLike[str]
Listener = Callable[[str], object]


class Network(Mapping[str, Layer]):
    """Layers by name, in the order of forward propagation.

    Attributes:
        description: the layers, their designs and the number format as the tools see them.
    """

    def __init__(self, network: description.Network) -> None:
        self.description = network

    @property
    def name(self) -> str:
        """As in the network file."""
        return self.description.name

    def __getitem__(self, name: str) -> Layer:
        """The layer of that name.

        Raises:
            NoSuchKey: there is none; the message lists those that there are. It is a ``BadInput``
                and a ``KeyError``, so that ``get`` has its default.
        """
        if not isinstance(name, str):
            raise NoSuchKey(f"layer = {shown(name)}: allowed is text")
        if pair_named(self.description, name):
            raise NoSuchKey(
                f"{self.name}: {name!r} names two layers: allowed is one of them, or both fused by "
                f"simulate(layer={name!r})"
            )
        return Layer(self.description, self.description.layer(name))

    def __iter__(self) -> Iterator[str]:
        """Names of the layers."""
        return (layer.name for layer in self.description.layers)

    def __len__(self) -> int:
        """How many layers there are."""
        return len(self.description.layers)

    def __eq__(self, other: object) -> bool:
        """Whether layers, designs and numbers are equal; weights do not count."""
        if not isinstance(other, Network):
            return NotImplemented
        return self.description == other.description

    def __repr__(self) -> str:
        """Name and layers."""
        return f"<network {self.name}: {', '.join(self)}>"

    @property
    def layers(self) -> Rows:
        """A row per layer: sizes of one group, operations of a phase, words of kernels."""
        return Rows(f"Layers of {self.name}", map(layer_row, self.description.layers))

    def _repr_html_(self) -> str:
        """The table of layers, as notebooks show it."""
        return self.layers._repr_html_()

    @as_arguments()
    def traffic(
        self,
        batch: int = 128,
        footing: str | None = None,
        *,
        state_bits: str | None = None,
        memory_bytes: int | None = None,
        board: Place | None = None,
        backward: str | None = None,
    ) -> Traffic:
        """Memory traffic of a training step, per layer and phase, by the closed form.

        Args:
            batch: images of a step, 1 to 65536.
            footing: what is counted: ``paper`` (maps and deltas), ``full`` (also kernels, biases,
                state) or ``board`` (full, in passes that fit a board; modelled). If not given
                ``paper``; of the way back in one pass ``full``.
            state_bits: what ReLU' and un-pooling are given: ``32`` (if not given), ``1`` or
                ``pooled`` (of the way back in one pass); other than 32 with ``full`` and ``board``.
            memory_bytes: on-chip memory, of ``board``: tiles by their bytes alone, without a board.
            board: a shipped board or a TOML file, of ``board``; the paper's if none is given.
            backward: delta propagation and kernel update of a convolution in ``separate`` passes or
                ``fused`` in one; as the network says if not given.

        Raises:
            BadInput: an argument is not what is allowed, or a layer cannot go back in one pass.
        """
        images = whole_number("batch", batch, 1, 1 << 16)
        network = with_backward(self.description, backward)
        counted = footing_of(network, footing, state_bits, memory_bytes, board)
        if counted.name != "board":
            check_backward(network)  # a plan runs what cannot apart
        return Traffic(network, images, counted)

    @as_arguments()
    def plan(
        self,
        board: Place,
        batch: int = 128,
        *,
        goal: str = "bytes",
        state_bits: str = "pooled",
        apart: bool = False,
        backward: str | None = None,
        fuse: str | None = None,
        fit: str = "shipped",
    ) -> Plan:
        """The passes of each layer and phase on a board, and what a training step takes there.

        Args:
            board: a shipped board or a TOML file.
            batch: images of a step, 1 to 65536.
            goal: what tiles are chosen for, ``bytes`` or ``time``.
            state_bits: as for ``traffic``; ``pooled``: deltas are stored pooled, too.
            apart: bitstreams for each layer alone, not for all that share its design.
            backward: ``separate`` or ``fused``, as for ``traffic``; convolutions that cannot go
                back in one pass, or do not fit whole, have both passes.
            fuse: two layers that are one pass of forward propagation, as ``conv1+conv2``; ``best``,
                those of the pairs that fit that save most bytes; ``none``; or as the network says
                if not given. A pair that does not fit runs one by one.
            fit: ``shipped``, on the designs of the network; ``best``, on these or on designs sized
                for the board, whichever take less time.

        Raises:
            BadInput: an argument is not what is allowed, or the board's part is too small.
        """
        from merp.tools.library.plan import Plan

        network = with_backward(self.description, backward)
        return Plan(network, board, batch, goal, state_bits, apart, fuse, fit)

    @as_arguments()
    def simulate(
        self,
        x: ArrayLike | None = None,
        *,
        layer: str = ALL,
        phase: str = "fp",
        group: int | str = ALL,
        cus: int | None = None,
        images: int | None = None,
        image: Place | None = None,
        parameters: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
        engine: str = "myhdl",
        cu_array: str | None = None,
        state: bool = False,
        delta_at: str | None = None,
        seed: int = 0,
        rows: int | None = None,
        wave: Place | None = None,
        wave_of: str | None = None,
        output: Place | None = None,
        resume: bool = False,
        progress: Listener | None = None,
    ) -> Simulation:
        """Run layers and phases in the hardware, each on what the hardware made of those in front.

        Every word is compared with the golden training step, whose labels are arbitrary (image i is
        of class i). Floating-point numbers are rounded into the network's format, integers must be
        held by it, and ``uint32`` arrays are words of it (IEEE 754 encodings). On a MAC array all
        layers run on one design, ``x`` takes numbers alone, and state stays on the chip.

        Args:
            x: what goes into the network, (images, rows, columns, channels). Without it, the
                photograph that is shipped; random numbers where no photograph has so many channels.
            layer: one, or ``all`` up to the first that has no design.
            phase: ``fp``, ``dp``, ``ku`` (CNN-MERP section III), ``bp`` (the latter two in one
                pass), or ``all``, a training step.
            group: of one layer, the one to run, or ``all``.
            cus: CUs of each design, 1 to 512; as in the network file if not given.
            images: of the photograph, 1 to 256 (default 1). image: another photograph, a file.
            parameters: kernels (groups*m, n, k, k) and biases (groups*m,) by layer, such as
                ``Training.words``; initial ones of those that are left out. Of floats alone.
            engine: ``myhdl``, ``verilator`` or ``ghdl``.
            cu_array: ``behavioural`` (quicker, the same bits in the same cycles; only ``myhdl``,
                its default) or ``rtl``.
            state: ``fp`` also writes what the way back needs.
            delta_at: ``sums`` or ``pooled``: at which resolution deltas lie in memory; of the way
                back in one pass ``pooled``, else ``sums``, if not given.
            seed: of initial kernels and biases.
            rows: of one layer's input maps in ``fp``, the first ones alone; else all.
            wave: a file, ``.vcd`` or ``.fst``, for a waveform of one phase, and layers of one
                design. wave_of: what it shows beside the ports, as ``Layer.run`` takes it.
            output: a folder for report and pictures; finished layers are kept in it while it runs.
            resume: take those of an identical run that was interrupted.
            progress: is told how far it is, in lines.

        Raises:
            BadInput: an argument is not what is allowed, a layer has no design, the machine has too
                little memory, or the engine's simulator is not installed.
            Stuck: no word moved for too long.
        """
        from merp.cosim.engines.engine import ENGINES as SIMULATORS  # slow imports wait

        network = self.description
        one_of("phase", phase, (*NAMED, ALL))
        one_of("engine", engine, SIMULATORS)
        if cu_array is not None:
            one_of("cu_array", cu_array, ARRAYS)
        if delta_at is not None:
            one_of("delta_at", delta_at, DELTAS)
        seeded = whole_number("seed", seed, 0, SEEDS)
        told = listener("progress", progress)
        waves, folder = wave_place(wave, wave_of), path_or_none("output", output)
        photograph = path_or_none("image", image)
        every = isinstance(group, str) and group == ALL
        one = ALL if every else whole_number("group", group, 0, MAX_MAPS)
        sized = whole_or_none("cus", cus, 1, MOST_CUS)
        picked = pick(network, text("layer", layer), one, sized)

        from merp.tools.simulate.simulated import simulated_of  # slow imports wait

        machine = simulated_of(picked.network, picked.layers)
        maps = None
        if x is not None:
            maps = machine.words_of("x", array_of("x", x, (None, *network.input)), network)
        if maps is not None and (images is not None or photograph is not None):
            raise BadInput(f"{'image' if images is None else 'images'}: allowed without x")
        count = images if images is not None else 1 if maps is None else len(maps)
        choice = choose(
            picked,
            phase=phase,
            images=whole_number("images", count, 1, MOST_IMAGES),
            engine=engine,
            cu_array=cu_array,
            state=flag("state", state),
            delta_at=delta_at,
            wave=waves,
            rows=whole_or_none("rows", rows, 1, MAX_SIZE),
        )
        check_resume(flag("resume", resume), output=folder is not None, wave=waves is not None)
        check_room(choice)
        from merp.tools.library.simulation import checked_parameters, simulate

        made = checked_parameters(network, parameters)
        if maps is None:
            maps = machine.input_maps(choice.network, choice.images, photograph)
        return simulate(choice, maps, seeded, made, folder, resume, waves, wave_of, told)

    @as_arguments()
    def train(
        self,
        data: Place | tuple[ArrayLike, ArrayLike] = "digits",
        *,
        engine: str | None = None,
        architecture: str = ARCHITECTURES[0],
        depth: int | None = None,
        devices: int | None = None,
        link_cycles: int | None = None,
        processes: bool = False,
        patience: int | None = None,
        batch: int | None = None,
        steps: int | None = None,
        epochs: int | None = None,
        learning_rate: float = RATE,
        momentum: float = MOMENTUM,
        weight_decay: float = 0.0,
        lr_decay: float | None = None,
        lr_every: int | None = None,
        validation: Place | tuple[ArrayLike, ArrayLike] | None = None,
        loss: str = LOSSES[0],
        state_bits: str | None = None,
        backward: str | None = None,
        board: Place | None = None,
        goal: str | None = None,
        apart: bool = False,
        seed: int | None = None,
        save: Place | None = None,
        resume: Place | None = None,
        weights: Place | None = None,
        output: Place | None = None,
        progress: Listener | None = None,
    ) -> Training:
        """Train in the hardware's own arithmetic, or in the hardware itself (F-CNN section II.B).

        Args:
            data: (images, labels): (count, rows, columns[, channels]) numbers and (count,) classes
                from 0; or an ``.npz`` file of these; or ``digits``, scikit-learn's of as many
                classes as the network has outputs.
            engine: ``golden``, the models; ``myhdl``, ``verilator`` or ``ghdl``, in the hardware,
                every word compared with the models: the same weights, bit for bit. If not given,
                ``golden``; of ``mazouz`` and ``fpdeep``, which run in the hardware alone,
                ``myhdl``.
            architecture: ``cnn-merp``, layers and phases one after the other; ``mazouz``, all of
                them at once, as a pipeline in the hardware; ``fpdeep``, the same on a chain of
                boards.
            depth: images on their way at most in a pipeline, 1 to 256 (default 4).
            devices: boards of the chain, 1 to 1024 (default 1).
            link_cycles: cycles that a word takes on a link between them, 1 to 64 (default 1).
            processes: each board is simulated by a process of its own, with engine ``myhdl`` or
                ``verilator``.
            patience: seconds without a sign of life of such a process, which it gives while it
                computes too, until the run ends (default 30).
            batch: images of a step, 1 to 65536 (default 32, or that of ``resume``).
            steps: in all, those resumed included. epochs: in their place; 10 if neither is given.
            learning_rate: of the mean loss. momentum: from 0 to below 1.
            weight_decay: of kernels and biases, coupled with the gradient as in PyTorch's SGD.
            lr_decay: factor of the learning rate, below 1, after every ``lr_every`` epochs (default
                1); without it the rate stays.
            validation: as ``data``: images that accuracy is measured on, in place of a fifth.
            loss: ``cross-entropy`` or ``squared``.
            state_bits: what ReLU' and un-pooling are given: ``32``, ``1`` or ``pooled``; the
                hardware keeps ``pooled``.
            backward: ``separate`` passes for delta propagation and kernel update, or ``fused``: one
                for both, of convolutions; the same bits. As the network file says if not given.
            board: a shipped board or a TOML file; each step runs in the passes of the plan there,
                on its designs, in place of layers in one piece. goal, apart: as of ``plan``.
            seed: of initial parameters and the order of images (default 0, or that of ``resume``).
            save: an ``.npz`` file, saved after each epoch and at the end, and when interrupted.
            resume: such a file to go on from, to the same bits.
            weights: an ``.npz`` file of kernels and biases to begin with.
            output: a folder for the answer and the loss curve.
            progress: is told how far it is, in lines.

        Raises:
            BadInput: an argument or the data is not what is allowed, scikit-learn is missing, a
                layer has no design (without a board), the board's part is too small, or the loss is
                no longer finite.
            CheckFailed: a bit, a count or a rule of a port of the hardware was wrong, or a process
                has ended or stands still.
            Stuck: no word moved for too long.
        """
        one_of("architecture", architecture, ARCHITECTURES)
        engine = one_of("engine", engine_of(architecture, engine), ENGINES)
        one_of("loss", loss, LOSSES)
        if state_bits is not None:
            one_of("state_bits", state_bits, STATES)
        if steps is not None and epochs is not None:
            raise BadInput("epochs: allowed without steps")
        place = None if board is None else open_board(fspath(path("board", board)))
        if goal is not None:
            from merp.models.machines.cnn_merp.plan.plan import GOALS  # slow imports wait

            one_of("goal", goal, GOALS)
        target = target_of(place, goal=goal, apart=flag("apart", apart))
        if backward is not None:
            one_of("backward", backward, BACKWARD.allowed)
        network = going_back(self.description, backward, target)
        course = Course(
            network=network,
            engine=engine,
            state=state_kept(network, engine, target, state_bits),
            target=target,
            at_once=at_once_of(
                architecture,
                whole_or_none("depth", depth, 1, MOST_DEPTH),
                whole_or_none("devices", devices, 1, MOST_DEVICES),
                whole_or_none("link_cycles", link_cycles, 1, MAX_PACE),
                PROCESSES if flag("processes", processes) else None,
                whole_or_none("patience", patience, 1, MOST_PATIENCE),
                engine,
                target,
            ),
            batch=whole_or_none("batch", batch, 1, MOST_BATCH),
            steps=whole_or_none("steps", steps, 1, MOST_STEPS),
            epochs=whole_or_none("epochs", epochs, 1, MOST_EPOCHS),
            learning_rate=positive("learning_rate", learning_rate),
            momentum=below("momentum", momentum, 1),
            weight_decay=not_negative("weight_decay", weight_decay),
            schedule=schedule(
                None if lr_decay is None else positive("lr_decay", lr_decay, 1),
                whole_or_none("lr_every", lr_every, 1, MOST_EPOCHS),
            ),
            loss=loss,
            seed=whole_or_none("seed", seed, 0, SEEDS),
            resume=path_or_none("resume", resume),
            weights=path_or_none("weights", weights),
        )
        saved, folder = path_or_none("save", save), path_or_none("output", output)
        told = listener("progress", progress)
        from merp.tools.library.training import train  # slow imports wait

        return train(course, data, validation, saved, folder, told)

    @as_arguments()
    def export(
        self,
        output: Place,
        *,
        layer: str = ALL,
        phase: str | None = None,
        state: bool = False,
        delta_at: str | None = None,
        images: int = 1,
        part: str = DEFAULT,
        clock_mhz: float | None = None,
        language: str = VHDL.name,
        weights: Place | None = None,
        progress: Listener | None = None,
    ) -> Exports:
        """Write hardware behind AXI, bench, vectors and scripts: a package per design and phase.

        Args:
            output: a folder; each package gets one of its own in it, and replaces what it has been.
            layer: the one whose design is exported, with vectors of it; or ``all`` designs in all
                phases, and the schedule of a training step.
            phase: of one layer: ``fp`` (default), ``dp``, ``ku``, or ``bp``, both in one pass.
            state: ``fp`` also writes what the way back needs; with ``all`` it always does.
            delta_at: ``sums`` or ``pooled``: at which resolution deltas lie in memory; of the way
                back in one pass ``pooled``, else ``sums``, if not given.
            images: in a run, 1 to 256: registers, vectors.
            part: an order code of the 7 series, Zynq-7000 or UltraScale(+), or one of the paper's
                devices.
            clock_mhz: of the constraint, below 10^6; the paper's on that part if not given.
            language: of the hardware and its bench: ``vhdl`` or ``verilog``.
            weights: an ``.npz`` file of kernels and biases, of the vectors.
            progress: is told how far it is, in lines.

        Raises:
            BadInput: an argument is not what is allowed, a layer has no design, or the folder
                cannot be written: what was there is still.
            RuntimeError: GHDL or Verilator, where it is installed, refuses what was exported.
        """
        folder = path("output", output)
        if phase is not None:
            one_of("phase", phase, NAMED)
        if delta_at is not None:
            one_of("delta_at", delta_at, DELTAS)
        selection = select(
            self.description,
            None if text("layer", layer) == ALL else layer,
            phase=phase,
            state=flag("state", state),
            delta_at=delta_at,
            images=whole_number("images", images, 1, MOST_EXPORTED),
            target=target_named(text("part", part)),
            clock_mhz=None if clock_mhz is None else positive("clock_mhz", clock_mhz, 1e6),
            dialect=DIALECTS[one_of("language", language, DIALECTS)],
        )
        told, given = listener("progress", progress), path_or_none("weights", weights)
        from merp.tools.common.kernel_file import with_weights  # slow imports wait
        from merp.tools.library.exports import export

        if given is not None:
            selection = replace(selection, network=with_weights(selection.network, given))
        return export(selection, folder, told)
