"""The JSON answers of ``merp traffic``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from merp.models.network.network import Layer, Network
from merp.models.network.network_keys import COMBINED, json_backward
from merp.models.network.phases import ONE_PASS, PHASES
from merp.models.traffic.closed_form import LayerTraffic, PhaseTraffic, total
from merp.models.traffic.count import Count
from merp.models.traffic.strategies import round_trips, staircase
from merp.tools.common.stored import words_answer


def _phase_json(phase: PhaseTraffic | None) -> dict[str, Any] | None:
    if phase is None:
        return None
    known = {
        "bytes": phase.bytes,
        "operations": phase.operations,
        "mb_per_gflop": phase.mb_per_gflop,
        "streams": dict(phase.streams),
    }
    return known | ({"momentum_bytes": phase.momentum} if phase.momentum else {})


def traffic_json(
    network: Network, traffic: tuple[LayerTraffic, ...], batch: int, count: Count
) -> dict[str, Any]:
    """Return the JSON answer; totals are for the convolution layers, and for all layers."""

    phases = (*PHASES, *going_back(network))

    def totals(layers: list[LayerTraffic]) -> dict[str, Any]:
        return {phase: _phase_json(total(layers, phase)) for phase in (*phases, "step")}

    answer: dict[str, Any] = {
        "network": network.name,
        "batch": batch,
        "footing": count.json_name,
        **words_answer(network),
        **({"backward": json_backward(COMBINED)} if network.backward == COMBINED else {}),
    }
    if count.name != "maps":
        answer["state_bits"] = count.state
    if count.name == "board":
        answer["memory_bytes"] = count.memory_bytes
        answer["board"] = None if count.board is None else count.board.name
    answer["layers"] = [
        {
            "name": each.layer.name,
            "kind": each.layer.kind,
            "operations": each.layer.operations(batch),
            **{phase: _phase_json(getattr(each, phase)) for phase in phases},
        }
        for each in traffic
    ]
    answer["total"] = totals([each for each in traffic if each.layer.kind == "conv"])
    answer["total_all"] = totals(list(traffic))
    return answer


def going_back(network: Network) -> tuple[str, ...]:
    """Return the phase of the combined backward pass, which a step may have."""
    return (ONE_PASS,) if network.backward == COMBINED else ()


def strategies_json(network: Network, layers: Sequence[Layer], batch: int) -> dict[str, Any]:
    """Return the JSON answer with the traffic of each layer after each strategy."""
    answers = []
    for layer in layers:
        trips = round_trips(network, layer, batch)
        operations = layer.operations(batch)
        answers.append(
            {
                "name": layer.name,
                "operations": operations,
                "strategies": [
                    {
                        "level": step.level,
                        "last": step.last,
                        "bytes": step.bytes(network.at(layer)),
                        "mb_per_gflop": step.bytes(network.at(layer)) / operations * 1e3,
                        "on_chip_bytes": step.on_chip_words * network.fmt.bytes,
                    }
                    for step in staircase(layer, batch)
                ],
                "activation_bytes": trips.activation,
                "pooling_bytes": trips.pooling,
            }
        )
    return {
        "network": network.name,
        "batch": batch,
        **words_answer(network),
        "layers": answers,
    }
