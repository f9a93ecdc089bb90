"""Solvers for layouts and accelerators: ours, HiGHS, CP-SAT and toulbar2.

`python benchmarks/solvers.py [name ...] [--models DIR]` solves the problems of `nn-choose` on the
benchmark networks, and random chains, grids and dense graphs. Run `pip install 'highspy>=1.16'
ortools pytoulbar2` first: HiGHS 1.15 and OR-Tools 9.15 cannot be loaded into one process. Times are
CPU milliseconds, medians of `--rounds`; they include the conversion of the problem, but no imports.
A gap is the distance from the cheapest choice of all solvers, and `*` marks a choice that the
solver did not prove. HiGHS stops after `--limit` seconds, CP-SAT after as many units of its own
clock, toulbar2 after a number of backtracks, ours after a number of rounds.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import models
import numpy as np
from provenance import measured

from clopt.context import CloptContext
from clopt.dialects.cl import set_target
from clopt.frontends.onnx import import_onnx
from clopt.passes.nn.choose import NNChoosePass
from clopt.passes.nn.layout import offload, solver
from clopt.passes.nn.layout import problem as layouts
from clopt.passes.nn.layout.solver import FORBIDDEN, Problem, Solution
from clopt.passes.pipelines import PIPELINES
from clopt.targets import TargetChoice

HERE = Path(__file__).resolve().parent
LABELS = {
    "pocl": "pocl",
    "adreno": "adreno-740 texture=prefer",
    "adreno, CLML": "adreno-740 texture=prefer clml=auto clml_version=3",
}
DIGITS = 6
"""Decimal places of microseconds that solvers for whole numbers keep."""
BACKTRACKS = 2_000
"""Most backtracks of toulbar2. Its limit in seconds leaves a timer on that makes clocks coarse."""

Found = tuple[Sequence[int] | None, bool]
"""A choice, and whether it is proven to be the cheapest."""
Solver = Callable[[Problem, float], Found]


def problems_of(model: Path, label: str) -> list[Problem]:
    """Return the problems that `nn-choose` solves for a network on a target."""
    problems: list[Problem] = []

    def record(problem: Problem) -> Solution:
        problems.append(problem)
        return solver.solve(problem)

    ctx = CloptContext()
    module = import_onnx(model, ctx.weights)
    set_target(module, TargetChoice.parse(label).load())
    with mock.patch.object(layouts, "solve", record), mock.patch.object(offload, "solve", record):
        for step in PIPELINES["opencl"]:
            step.apply(ctx, module)
            if isinstance(step, NNChoosePass):
                return problems
    raise AssertionError("the pipeline has no nn-choose")


def random_problem(count: int, edges: list[tuple[int, int]], candidates: int = 5) -> Problem:
    """Return a problem with uniform costs, the same each time."""
    rng = np.random.default_rng(0)
    problem = Problem()
    for _ in range(count):
        problem.add(rng.random(candidates).tolist())
    for a, b in edges:
        problem.relate(a, b, rng.random((candidates, candidates)))
    return problem


def synthetic() -> Iterator[tuple[str, Problem]]:
    """Yield chains, grids and dense graphs with their names."""
    for n in (1000, 5000):
        yield f"chain of {n}", random_problem(n, [(i, i + 1) for i in range(n - 1)])
    for n in (10, 20):
        across = [(i * n + j, i * n + j + 1) for i in range(n) for j in range(n - 1)]
        down = [(i, i + n) for i in range(n * n - n)]
        yield f"grid {n} by {n}", random_problem(n * n, across + down)
    for n in (12, 20, 60):
        yield f"dense, {n}", random_problem(n, [(i, j) for j in range(n) for i in range(j)])


def ours(problem: Problem, limit: float) -> Found:
    """Solve by elimination, dead ends and messages."""
    solution = solver.solve(problem)
    return solution.choice, solution.exact


def highs(problem: Problem, limit: float) -> Found:
    """Solve the linear program over shares of candidates and pairs; branch on fractions."""
    import highspy

    first = np.cumsum([0, *map(len, problem.costs)])
    costs = [np.concatenate(problem.costs)]
    rows = [np.repeat(np.arange(len(problem.costs)), np.diff(first))]
    columns, values = [np.arange(first[-1])], [np.ones(first[-1])]
    row, column = len(problem.costs), int(first[-1])
    for (a, b), table in problem.pairs.items():
        pairs = column + np.arange(table.size).reshape(table.shape)
        for variable, shares in ((a, pairs), (b, pairs.T)):
            count, others = shares.shape
            rows += [np.repeat(row + np.arange(count), others), row + np.arange(count)]
            columns += [shares.ravel(), first[variable] + np.arange(count)]
            values += [np.ones(shares.size), -np.ones(count)]
            row += count
        costs.append(table.ravel())
        column += table.size
    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = row, column
    every = np.concatenate(costs)
    allowed = every < FORBIDDEN / 2
    program.col_cost_ = np.where(allowed, every, 0.0)
    program.col_lower_, program.col_upper_ = np.zeros(column), allowed.astype(float)
    program.row_lower_ = program.row_upper_ = (np.arange(row) < len(problem.costs)).astype(float)
    order = np.argsort(np.concatenate(rows), kind="stable")
    starts = np.cumsum([0, *np.bincount(np.concatenate(rows), minlength=row)])
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = starts
    program.a_matrix_.index_ = np.concatenate(columns)[order]
    program.a_matrix_.value_ = np.concatenate(values)[order]
    engine = highspy.Highs()
    options = {"output_flag": False, "threads": 1, "presolve": "off", "mip_rel_gap": 0.0}
    for name, value in {**options, "time_limit": limit}.items():
        engine.setOptionValue(name, value)
    engine.passModel(program)
    engine.run()
    shares = np.array(engine.getSolution().col_value)[: first[-1]]
    if np.abs(shares - shares.round()).max(initial=0.0) > 1e-6:
        whole = np.full(first[-1], int(highspy.HighsVarType.kInteger), np.uint8)
        engine.changeColsIntegrality(int(first[-1]), np.arange(first[-1]), whole)
        engine.run()
        shares = np.array(engine.getSolution().col_value)[: first[-1]]
    if not shares.any():
        return None, False
    choice = [int(part.argmax()) for part in np.split(shares, first[1:-1])]
    return choice, engine.getModelStatus() == highspy.HighsModelStatus.kOptimal


def cp_sat(problem: Problem, limit: float) -> Found:
    """Solve with one Boolean for each candidate and each pair, in whole billionths of a second."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    terms: list[cp_model.IntVar] = []
    costs: list[int] = []

    def switches(table: solver.Table) -> list[cp_model.IntVar]:
        new = [model.new_bool_var("") for _ in table.ravel()]
        for switch, cost in zip(new, table.ravel(), strict=True):
            if cost >= FORBIDDEN / 2:
                model.add(switch == 0)
            elif cost:
                terms.append(switch)
                costs.append(round(cost * 10**DIGITS))
        return new

    alone = [switches(costs) for costs in problem.costs]
    for candidates in alone:
        model.add_exactly_one(candidates)
    for (a, b), table in problem.pairs.items():
        pairs = np.array(switches(table), object).reshape(table.shape)
        for i, candidate in enumerate(alone[a]):
            model.add(sum(pairs[i]) == candidate)
        for i, candidate in enumerate(alone[b]):
            model.add(sum(pairs[:, i]) == candidate)
    model.minimize(cp_model.LinearExpr.weighted_sum(terms, costs))
    engine = cp_model.CpSolver()
    engine.parameters.num_workers = 1
    engine.parameters.max_deterministic_time = limit
    status = engine.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, False
    choice = [[engine.boolean_value(c) for c in candidates].index(True) for candidates in alone]
    return choice, status == cp_model.OPTIMAL


def toulbar2(problem: Problem, limit: float) -> Found:
    """Solve as a cost function network, in whole billionths of a second."""
    import pytoulbar2

    network = pytoulbar2.CFN(FORBIDDEN, resolution=DIGITS)
    for variable, costs in enumerate(problem.costs):
        network.AddVariable(f"v{variable}", [f"c{i}" for i in range(len(costs))])
        network.AddFunction([variable], np.minimum(costs, FORBIDDEN).tolist())
    for (a, b), table in problem.pairs.items():
        network.AddFunction([a, b], np.minimum(table, FORBIDDEN).ravel().tolist())
    pytoulbar2.tb2.option.backtrackLimit = BACKTRACKS
    found = network.Solve()
    if found is None:
        return None, False
    return found[0], network.GetDDualBound() >= found[1] - 10**-DIGITS


SOLVERS: dict[str, Solver] = {
    "ours": ours,
    "HiGHS": highs,
    "CP-SAT": cp_sat,
    "toulbar2": toulbar2,
}


@dataclass
class Result:
    """The work of one solver on the problems of one row."""

    milliseconds: float
    costs: list[float]
    proven: bool


def result_of(solve: Solver, problems: Sequence[Problem], limit: float, rounds: int) -> Result:
    """Return the median time for all problems, and the costs of the choices."""
    times: list[float] = []
    found: list[Found] = []
    while len(times) < rounds and sum(times) < limit:
        start = time.process_time()
        found = [solve(problem, limit) for problem in problems]
        times.append(time.process_time() - start)
    costs = [
        np.inf if choice is None else problem.cost_of(choice)
        for problem, (choice, _) in zip(problems, found, strict=True)
    ]
    return Result(statistics.median(times) * 1e3, costs, all(proven for _, proven in found))


def row_of(name: str, target: str, problems: Sequence[Problem], args: argparse.Namespace) -> str:
    """Return one line of the table."""
    results = [result_of(solve, problems, args.limit, args.rounds) for solve in SOLVERS.values()]
    least = np.min([result.costs for result in results], axis=0)
    largest = max(problems, key=lambda problem: sum(map(len, problem.costs)))
    cells = [name, target, str(len(problems)), str(len(largest.costs))]
    cells.append(str(sum(map(len, largest.costs))))
    for result in results:
        gap = float((np.array(result.costs) / least - 1).max()) * 100
        mark = "" if result.proven else "*"
        cells += [f"{result.milliseconds:.1f}", "none" if np.isinf(gap) else f"{gap:.2f}{mark}"]
    return "| " + " | ".join(cells) + " |"


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Discard what libraries print to standard output."""
    sys.stdout.flush()
    kept, null = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(null)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", default=list(models.NAMES), metavar="name")
    parser.add_argument("--models", type=Path, default=models.CACHE, help="folder of ONNX files")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=int, default=10, help="units of time for each problem")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "solvers.md")
    args = parser.parse_args()
    for module in ("ortools.sat.python.cp_model", "highspy", "pytoulbar2"):
        importlib.import_module(module)
    heads = ["network", "target", "problems", "variables", "candidates"]
    heads += [f"{name}, {unit}" for name in SOLVERS for unit in ("ms", "gap %")]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    print(*lines, sep="\n")
    cases = [
        (name, target, problems_of(models.export(name, folder=args.models), label))
        for name in args.names
        for target, label in LABELS.items()
    ]
    for name, target, problems in [*cases, *((n, "", [p]) for n, p in synthetic())]:
        with silence():
            lines.append(row_of(name, target, problems, args))
        print(lines[-1], flush=True)
    title = f"# {(__doc__ or '').splitlines()[0]}"
    args.output.write_text("\n".join([title, "", measured(), "", *lines]) + "\n")


if __name__ == "__main__":
    main()
