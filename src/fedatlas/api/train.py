"""Training in Python: one algorithm on one problem, for scripts and notebooks."""

import dataclasses
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError, explain_overflow
from fedatlas.experiments.cells import LARGEST_SEED
from fedatlas.experiments.run import check_start
from fedatlas.experiments.runs import SETTING
from fedatlas.experiments.values import resolve_formulas
from fedatlas.federation.algorithms import ALGORITHMS, Algorithm
from fedatlas.federation.engine import resources
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Progress, Simulation, run_simulations
from fedatlas.federation.problems import ProblemKind, interactive
from fedatlas.federation.problems.base import Optimum, Problem
from fedatlas.registry.kinds import classes, specification
from fedatlas.registry.options import Option, construct, native, validate_names, validate_values
from fedatlas.registry.options import options as options_of

if TYPE_CHECKING:
    import pandas as pd

# Arguments of train() that belong neither to the setting nor to the algorithm.
ARGUMENTS = {
    "seed": Option("seed", int, 0, doc="of samples, participation and start", low=0, high=LARGEST_SEED),
    "threads": Option("threads", int, 1, doc="client blocks computed at once", low=1),
}
_OPTIMA: dict[Any, Optimum] = {}  # of the problems that this process has solved, by identity


def train(
    algorithm: str | Algorithm | type[Algorithm],
    problem: Mapping[str, Any] | Problem | ProblemKind,
    *,
    clients: int | None = None,
    seed: int = 0,
    optimum: bool = True,
    threads: int = 1,
    progress: Progress | None = None,
    **options: Any,
) -> "pd.DataFrame":
    """Train one federated algorithm on one problem.

    Args:
        algorithm: Name of an algorithm, an Algorithm, or a subclass of it.
        problem: A Problem, such as `fedatlas.Softmax` of arrays, or a specification such as
            ``{"kind": "logistic", "data": "a9a", "l2": 1e-3}``. Its data may be custom files: ``"data": {"file":
            "mine.csv", "label": "y", "client": "hospital"}, "partition": "natural"``. Prepared data lie in the folder
            FEDATLAS_DATA or ``data``. Custom data and those that come with a package are prepared on demand, in the
            user's cache if the folder does not exist or cannot be written. Other data sets must have been fetched.
        clients: Number of clients. It may be left out for a Problem whose rows are split, and for the partition
            ``natural``.
        seed: Seed of samples, participation and start.
        optimum: Whether F* is computed, if a solver exists, so that suboptimality is reported. It is computed once for
            a problem, or a specification, in a process.
        threads: Number of client blocks that are computed at once.
        progress: Function that is called with each row.
        **options: Keys of the setting (rounds, local_steps, batch, participation ...) and hyper-parameters of the
            algorithm (lr ...), which may be formulas of the problem's constants, such as ``lr="1/L"``. A kind, here
            and in the problem, may be a class of one's own, such as of `fedatlas.Channel`, or its object.

    Returns:
        A DataFrame with a row for each evaluation and the columns ``round``, ``steps``, the costs, and the problem's
        metrics. Its ``attrs`` hold ``status`` (ok or diverged), ``diverged_round``, ``spec``, ``x``, the last output,
        and ``label``, the algorithm's name for people.

    Raises:
        UserError: A name is unknown, a value is out of range, or memory does not suffice.

    >>> import fedatlas
    >>> quadratic = {"kind": "quadratic", "dim": 10, "similarity": 0.1}
    >>> frame = fedatlas.train("scaffold", quadratic, clients=5, rounds=40, local_steps=4, batch=None, lr="1/L")
    >>> frame.columns.tolist()[:4], frame.attrs["status"]
    (['round', 'steps', 'vectors_up', 'vectors_down'], 'ok')
    >>> bool(frame["suboptimality"].iloc[-1] < frame["suboptimality"].iloc[0] / 10)
    True
    """
    import pandas as pd

    options, problem = specification(options), specification(native(problem))
    arguments = {"seed": native(seed), "threads": native(threads)}
    validate_values("train", ARGUMENTS, arguments)
    algorithm = ALGORITHMS.resolve(algorithm)
    cls: Any = ALGORITHMS.get(algorithm) if isinstance(algorithm, str) else algorithm
    cls = cls if isinstance(cls, type) else type(cls)
    if not (issubclass(cls, Algorithm) and hasattr(cls, "name")):
        raise UserError(f"train: algorithm is {algorithm!r:.60}; it must be a name or a named class of Algorithm")
    if not isinstance(problem, (Mapping, Problem)):
        raise UserError(f"train: problem is {problem!r:.60}; it must be a mapping of options to values, or a Problem")
    validate_names(f"train: {cls.name}", {**cls.options(), **options_of(Setting)}, options)
    if clients is None:
        if isinstance(problem, Mapping):
            clients = interactive.client_count(problem)
        else:
            clients = problem.clients if problem.partition is None else problem.partition.clients
    conditions = {} if clients is None else {"clients": clients}
    conditions |= {name: value for name, value in options.items() if name in SETTING}
    setting = construct("train", Setting, conditions)
    setting.participation_kind.validate_files(setting.clients)
    parameters = {name: value for name, value in options.items() if name not in SETTING}
    _create(algorithm, resolve_formulas(parameters, cls.options()))  # a wrong value is refused before data are read
    identity: Any = None
    problem_spec = dict(problem) if isinstance(problem, Mapping) else repr(problem)
    if isinstance(problem, Mapping):
        described, problem = problem, interactive.create(problem, setting.clients)
        identity = (interactive.identity(described, setting.clients), *classes(described))
    algorithm = _create(algorithm, resolve_formulas(parameters, cls.options(), problem))
    spec = {
        "algorithm": algorithm.name,
        "parameters": dataclasses.asdict(algorithm),
        "problem": problem_spec,
        "setting": dataclasses.asdict(setting),
        "seed": arguments["seed"],
    }
    if optimum and problem.optimum is None and problem.solvable:
        problem.optimum = _OPTIMA.get(identity) or problem.solve()
        if identity:
            _OPTIMA[identity] = problem.optimum
    with explain_overflow(algorithm.name):
        if "prox" in algorithm.requires:
            check_start(algorithm, setting, problem, arguments["seed"])
        simulation = Simulation(algorithm, problem, setting, **arguments)
        resources.require_memory([simulation])
        try:
            (history,) = run_simulations([simulation], progress)
        except Exception as error:
            _shorten(error.__traceback__, cls.__module__)
            raise
    frame = pd.DataFrame(history.rows)
    frame.attrs = {"status": history.status, "diverged_round": history.diverged_round, "spec": spec, "x": history.x}
    frame.attrs["label"] = getattr(algorithm, "label", algorithm.name)
    return frame


def _shorten(trace: TracebackType | None, module: str) -> None:
    """Leave the frames out of a traceback that lie between its first one and the call of a hook in a user's module."""
    call = trace
    while call is not None and call.tb_next and call.tb_next.tb_frame.f_globals["__name__"] != module:
        call = call.tb_next
    if trace is not None and call is not None and call.tb_next and not module.startswith("fedatlas."):
        trace.tb_next = call


def _create(algorithm: str | Algorithm | type[Algorithm], parameters: dict[str, Any]) -> Algorithm:
    """Return the algorithm of a name or a class, or a copy of an algorithm with other hyper-parameters."""
    if isinstance(algorithm, str):
        return ALGORITHMS.create(algorithm, parameters)
    if isinstance(algorithm, type):
        return construct(algorithm.title(), algorithm, parameters)
    return dataclasses.replace(algorithm, **parameters)
