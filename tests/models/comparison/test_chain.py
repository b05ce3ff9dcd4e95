from dataclasses import replace

import pytest

from merp.models.base.errors import BadInput
from merp.models.base.shape import Shape
from merp.models.comparison.branchless import chained
from merp.models.comparison.options import Options
from merp.models.network.network import Layer, Network

LAYERS = tuple(
    Layer(name=name, kind="conv", shape=Shape(n=2, m=2, k=1, rows=4, columns=4)) for name in "abc"
)
CHAIN = Network(name="chain", input=(4, 4, 2), layers=LAYERS)
SCOPE = Options(scope=("a", "b", "c"))


def altered(**change: str) -> Network:
    return replace(CHAIN, layers=(*LAYERS[:2], replace(LAYERS[2], **change)))


def test_layers_in_scope() -> None:
    assert chained(CHAIN, Options(scope=("b", "c")), "x") == list(LAYERS[1:])
    assert chained(altered(input="b"), SCOPE, "x")[-1].input == "b"  # as it would be without


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"input": "a"}, "^chain: layer c does not take the output of the layer in front of it: x"),
        ({"add": "a"}, "^chain: layer c adds the output of a: x has no additions"),
    ],
)
def test_branches_and_additions_are_refused(change: dict[str, str], line: str) -> None:
    with pytest.raises(BadInput, match=line):
        chained(altered(**change), SCOPE, "x")


def test_what_is_out_of_scope_may_branch() -> None:
    assert chained(altered(input="a"), Options(scope=("a", "b")), "x") == list(LAYERS[:2])
