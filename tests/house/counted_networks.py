"""Networks that were imported, counted by formula and by walk, and planned on a board."""

from merp.models.base.delta_shape import delta_shape
from merp.models.base.input_part import ADDING, WHOLE
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.params.word_counters import word_bytes
from merp.models.machines.cnn_merp.phases import (
    delta_design,
    maps_behind,
    start_shape,
    update_design,
)
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.machines.cnn_merp.plan.words import summed
from merp.models.machines.cnn_merp.traffic import backward_counter, counter
from merp.models.network.branches import (
    begun,
    behind,
    beside,
    previous,
    undone_shape,
)
from merp.models.network.network import Network
from merp.models.network.network_file import network_of
from merp.models.onnx.import_model import Imported
from merp.models.traffic import closed_form, pass_words
from merp.models.traffic.count import Count
from merp.tools.common.boards import open_board


def check_counts(network: Network) -> None:
    """See that formula and walk agree for every layer and phase of a network with designs."""
    for layer in network.layers:
        shape, design = layer.shape, design_of(network, layer)
        forward = pass_words.port_words(shape, 2)
        if design.added:
            forward["add_in"] = pass_words.added_words(shape, 2) if layer.add else 0
        part = ADDING if layer.add else WHOLE
        assert counter.port_words(shape, 2, design, part) == forward
        if layer.trainable:
            update = update_design(network, layer)
            walked = backward_counter.update_words(shape, 2, update)
            assert walked == pass_words.update_port_words(shape, 2)
        if previous(network, layer) is None:
            continue
        undone, engine = behind(network, layer).shape, delta_design(network, layer).engine
        maps = maps_behind(shape, undone)
        formula = pass_words.delta_port_words(shape, undone, maps, 2, False)
        part = WHOLE
        if begun(network, layer):
            formula["add_in"] = pass_words.added_words(delta_shape(shape), 2)
            part = ADDING
        elif engine.added:
            formula["add_in"] = 0
        moved = backward_counter.delta_words(shape, undone, maps, 2, engine, False, part)
        assert moved == formula
    check_pooled_counts(network)


def check_pooled_counts(network: Network) -> None:
    """The same where deltas lie at pooled resolution, by the traffic of the whole network."""
    count = Count(name="all", state="pooled")
    for each in closed_form.network_traffic(network, 2, count):
        layer, shape = each.layer, undone_shape(network, each.layer)
        walks = []
        if each.ku is not None:
            update = update_design(network, layer)
            walks.append(("ku", each.ku, backward_counter.update_words(shape, 2, update, True)))
        if each.dp is not None:
            engine = delta_design(network, layer, before=True).engine
            part = ADDING if begun(network, layer) else WHOLE
            start = start_shape(shape, beside(network, layer))
            walked = backward_counter.delta_words(
                shape, shape, shape.m, 2, engine, True, part, start
            )
            walks.append(("dp", each.dp, walked))
        for phase, formula, walked in walks:
            found = {
                port: layer.groups * count * word_bytes(phase, port, design_of(network, layer))
                for port, count in walked.items()
            }
            assert {p: n for p, n in found.items() if n} == {
                p: n for p, n in formula.streams.items() if n
            }


def check_plan(imported: Imported) -> None:
    """See that every layer and phase has a plan, whose passes move what its formula says."""
    found = plan(imported.network, open_board("kc705"), 2)
    assert {each.work.layer.name for each in found.layers} == {
        layer.name for layer in imported.network.layers
    }
    for each in found.layers:
        assert summed(each.work, *each.tile) == each.ports


def on_one_design(imported: Imported) -> Network:
    """A network with a design that runs all its layers."""
    layers = [table | {"design": "all"} for table in imported.tables["layer"]]
    largest = max(layer.shape.k for layer in imported.network.layers)
    design = {"k": largest, "n_cu": 4, "r": 4, "p": 2, "d": 2}
    return network_of("one", {**imported.tables, "layer": layers, "design": {"all": design}})
