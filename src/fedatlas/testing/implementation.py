"""An implementation under test: an algorithm's class, its hyper-parameters, and runs of it on small problems."""

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import all_finite, to_numpy
from fedatlas.federation.engine.history import History
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation, run_simulations
from fedatlas.registry.options import Option, construct, validate_names
from fedatlas.testing import instances
from fedatlas.testing.outcomes import Failed, NotApplicable

CLIENTS = 5
SETTING = {"clients": CLIENTS, "local_steps": 3, "rounds": 4, "batch": 2}  # the defaults of all tests
NUMBERS = (0.1, 1.0, 0.01, 10.0, 0.001, 100.0)  # values of a required number, in the order of trial
TRIALS = 60  # combinations of required hyper-parameters to try
CONSTANTS = {"mu": 0.1, "L": 20.0, "head": 2}  # values of constants that a problem does not compute; 1 for all others
LOCAL_STEPS = 5  # replaces a larger default of an option that counts local steps, to keep runs short
SAMPLED = {"participation": {"kind": "uniform", "count": 3}}
Case = tuple[str, Any, dict[str, Any]]  # label for sentences, problem, options of the setting


@functools.cache
def problems() -> dict[str, Any]:
    """Return a small problem of each kind of computation, by label."""
    return {
        "logistic regression": instances.logistic(),
        "softmax regression on shared data": instances.softmax(heterogeneous=False, start_scale=1.0),
        "quadratics": instances.quadratic(),
        "a network in torch": instances.network({"kind": "mlp", "hidden": [5]}, dtype="float32"),
    }


@dataclass(frozen=True, eq=False)
class Implementation:
    """An algorithm with hyper-parameters, under test.

    Required hyper-parameters without a value get one with which the loss falls on the small problems.

    Attributes:
        cls: Class of the algorithm.
        hyperparameters: Values of the user by name.

    Raises:
        UserError: A hyper-parameter is unknown, or a required one accepts none of the values to try.
    """

    cls: type[Algorithm]
    hyperparameters: Mapping[str, Any] = field(default_factory=dict)
    _histories: dict[str, History] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        validate_names(self.cls.title(), self.cls.options(), self.hyperparameters)

    @property
    def name(self) -> str:
        """The algorithm's name."""
        return self.cls.name

    @functools.cached_property
    def values(self) -> dict[str, Any]:
        """The values of the user and those of all other required hyper-parameters, by name."""
        fixed = dict(self.hyperparameters)
        required = [option for option in self.cls.options().values() if option.required and option.name not in fixed]
        if not required:
            return fixed
        names = [option.name for option in required]
        product = itertools.product(*map(_ranked_values, required))
        order = sorted(product, key=lambda combination: sum(rank for rank, _ in combination))
        trials = [
            fixed | dict(zip(names, (value for _, value in combination), strict=True))
            for combination in itertools.islice(order, TRIALS)
        ]
        return next(filter(self._reduces_loss, trials), trials[0])

    @property
    def step_counts(self) -> dict[str, int]:
        """The defaults above LOCAL_STEPS of options that count local steps, by name."""
        options = [option for option in self.cls.options().values() if not option.required]
        counts = [option for option in options if int in option.members and "steps" in option.unit]
        return {option.name: option.default for option in counts if (option.default or 0) > LOCAL_STEPS}

    def _reduces_loss(self, values: dict[str, Any]) -> bool:
        """Return whether a few rounds reduce the loss on each problem for which the algorithm is defined."""
        any_defined = False
        for problem in (problems()["quadratics"], problems()["logistic regression"]):
            try:
                rows = self.run(problem, values=values, rounds=6, batch=None, eval_rounds=6).rows
            except NotApplicable:
                continue
            except Exception:  # the conformance test `runs` reports it
                return False
            any_defined = True
            if not rows[-1]["loss"] < rows[0]["loss"]:
                return False
        return any_defined

    def create(self, values: Mapping[str, Any] | None = None) -> Algorithm:
        """Create the algorithm.

        Args:
            values: Hyper-parameters in place of `values`.

        Raises:
            UserError: A value does not fit.
        """
        algorithm: Algorithm = construct(self.cls.title(), self.cls, self.values if values is None else values)
        return algorithm

    def simulate(
        self,
        problem: Any,
        seed: int = 1,
        block: int | None = None,
        values: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Simulation:
        """Create a Simulation on a problem.

        Args:
            problem: Problem of five clients.
            seed: Seed of the run.
            block: Number of clients that a hook computes together; by default the engine's choice.
            values: Hyper-parameters in place of `values`.
            **options: Options of the setting in place of those of SETTING.

        Raises:
            NotApplicable: The algorithm is not defined for this problem or setting.
        """
        algorithm, setting = self.prepare(problem, values, options)
        return Simulation(algorithm, problem, setting, seed, block)

    def prepare(
        self, problem: Any, values: Mapping[str, Any] | None, options: dict[str, Any]
    ) -> tuple[Algorithm, Setting]:
        """Return the algorithm with all constants, and the setting.

        Args:
            problem: Problem of five clients.
            values: Hyper-parameters in place of `values`.
            options: Options of the setting in place of those of SETTING.

        Raises:
            NotApplicable: The algorithm is not defined for this problem or setting.
        """
        setting = Setting(**SETTING | options)
        values = dict.fromkeys(self.step_counts, LOCAL_STEPS) | dict(self.values if values is None else values)
        algorithm = self.create(values)
        missing = {
            name: CONSTANTS.get(option.constant, 1.0)
            for name, option in self.cls.options().items()
            if option.constant and name not in values and problem.constant(option.constant) is None
        }
        if missing:
            algorithm = self.create(values | missing)
        algorithm = algorithm.with_constants(problem)
        try:
            algorithm.validate(setting, problem)
        except UserError as error:
            raise NotApplicable(f"{error}.") from None
        return algorithm, setting

    def run(self, problem: Any, **options: Any) -> History:
        """Return the History of a run without compiled kernels; arguments as of `simulate`."""
        return run_simulations([self.simulate(problem, **options)], kernels=False)[0]

    def default_run(self, label: str) -> History:
        """Return the History of a run on one of `problems` without options, computed once."""
        if label not in self._histories:
            self._histories[label] = self.run(problems()[label])
        return self._histories[label]

    def is_defined(self, problem: Any, **options: Any) -> bool:
        """Return whether the algorithm is defined for a problem under options of the setting."""
        try:
            self.prepare(problem, None, options)
        except NotApplicable:
            return False
        return True

    @property
    def partial_participation(self) -> dict[str, Any]:
        """Options of a setting in which 3 of 5 clients are active; none if the algorithm needs all clients."""
        return {} if self.cls.full_participation else SAMPLED

    @property
    def smallest_problem(self) -> Any:
        """The smallest problem for which the algorithm is defined."""
        return problems()["quadratics" if "prox" in self.cls.requires else "logistic regression"]

    def known_constants(self, problem: Any) -> dict[str, Any]:
        """Return the hyper-parameters that default to constants of a problem, where it computes them."""
        options = self.cls.options().items()
        values = {name: problem.constant(option.constant) for name, option in options if option.constant}
        return {name: value for name, value in values.items() if value is not None}

    def describe_values(self) -> str:
        """Return the values as text: ``lr = 0.1``."""
        return ", ".join(f"{name} = {value}" for name, value in self.values.items())


def defined_cases(implementation: Implementation, cases: Iterable[Case]) -> Iterator[Case]:
    """Yield the cases for which an algorithm is defined. Raises NotApplicable, with the last reason, if none is."""
    reason = None
    count = 0
    for label, problem, options in cases:
        try:
            implementation.prepare(problem, None, options)
        except NotApplicable as error:
            reason = error
            continue
        count += 1
        yield label, problem, options
    if reason is not None and not count:
        raise reason


def all_cases(conditions: Mapping[str, dict[str, Any]] | None = None) -> Iterator[Case]:
    """Yield all of `problems`, under each condition.

    Args:
        conditions: Options of the setting by label; by default those of SETTING alone.
    """
    for kind, problem in problems().items():
        for label, options in (conditions or {"": {}}).items():
            yield f"{kind}, {label}" if label else kind, problem, options


def same_bits(a: Any, b: Any) -> bool:
    """Return whether two arrays are equal to the bit; NaN equals NaN."""
    return bool(np.array_equal(to_numpy(a), to_numpy(b), equal_nan=True))


def require_finite(history: History, label: str, advice: str) -> None:
    """Raise Failed if a run diverged.

    Args:
        history: History of the run.
        label: Problem and condition, for the sentence.
        advice: Remedy, for the sentence.
    """
    if history.status != "ok" or not all_finite(history.x):
        raise Failed(f"On {label}, the output is not finite after round {history.diverged_round}: {advice}")


def _ranked_values(option: Option) -> list[tuple[int, Any]]:
    """Return values to try of a required option, with their ranks. Raises UserError if none fits."""
    if option.words:
        return [(0, option.words[0])]
    if bool in option.members:
        return [(0, False)]
    numbers = [int(max(1, value)) if float not in option.members else value for value in NUMBERS]
    bounds = [bound for bound in (option.low, option.high) if bound is not None]
    values = [value for value in dict.fromkeys([*numbers, *bounds]) if option.numeric and option.fits(value)]
    if not values:
        raise UserError(
            f"{option.name} has no default and is {option.expected}: give a value with --set {option.name}=VALUE"
        )
    return list(enumerate(values))
