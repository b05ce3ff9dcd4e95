"""A front by NSGA-II, the method of Mazouz and Bridges: pymoo's version with whole numbers.

It finds points, but cannot prove that there are no better ones; an exact front does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from merp.models.base.errors import BadInput

Genes = tuple[int, ...]
"""An index on each axis."""

EXTRA = "pip install 'merp[search]'"


def nsga2(
    sizes: Sequence[int],
    costs: Callable[[Genes], Sequence[float] | None],
    objectives: int,
    population: int,
    generations: int,
    seed: int,
) -> list[Genes]:
    """Return the distinct points of the last generation's front; equal seeds give equal points.

    Args:
        sizes: number of choices of each axis.
        costs: computes the ``objectives`` costs of genes; None: the genes are not allowed.

    Raises:
        BadInput: pymoo is not installed, or no point was allowed.
    """
    try:
        from pymoo.algorithms.moo.nsga2 import NSGA2
        from pymoo.core.problem import ElementwiseProblem
        from pymoo.operators.crossover.sbx import SBX
        from pymoo.operators.mutation.pm import PM
        from pymoo.operators.repair.rounding import RoundingRepair
        from pymoo.operators.sampling.rnd import IntegerRandomSampling
        from pymoo.optimize import minimize
    except ImportError:
        raise BadInput(f"--method nsga2: pymoo is not installed: {EXTRA}") from None

    known: dict[Genes, Sequence[float] | None] = {}

    def of(genes: Genes) -> Sequence[float] | None:
        if genes not in known:
            known[genes] = costs(genes)
        return known[genes]

    class Search(ElementwiseProblem):  # type: ignore[misc]
        """Minimisation of costs; points that are not allowed break the only constraint."""

        def _evaluate(self, x: Any, out: dict[str, Any], *_: Any, **__: Any) -> None:
            found = of(tuple(map(int, x)))
            out["F"] = [0.0] * objectives if found is None else list(found)
            out["G"] = [1.0 if found is None else -1.0]

    problem = Search(
        n_var=len(sizes), n_obj=objectives, n_ieq_constr=1,
        xl=np.zeros(len(sizes), int), xu=np.array(sizes) - 1, vtype=int,
    )  # fmt: skip
    repair = RoundingRepair()
    method = NSGA2(
        pop_size=population,
        sampling=IntegerRandomSampling(),
        crossover=SBX(prob=0.9, eta=3.0, vtype=float, repair=repair),
        mutation=PM(eta=3.0, vtype=float, repair=repair),
        eliminate_duplicates=True,
    )
    found = minimize(problem, method, ("n_gen", generations), seed=seed)
    if found.X is None:
        raise BadInput(
            f"--method nsga2: none of {len(known):,} designs that were tried fits: allowed is a "
            "larger --population, or --method exact"
        )
    return sorted({tuple(map(int, each)) for each in np.atleast_2d(found.X)})
