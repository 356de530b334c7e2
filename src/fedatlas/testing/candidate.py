"""An algorithm that is checked: its class, values of its hyper-parameters, and runs of it on small problems."""

import functools
import itertools
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.algorithms.base import Algorithm
from fedatlas.federation.arrays import all_finite, to_numpy
from fedatlas.federation.engine.history import History
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation, run_simulations
from fedatlas.registry.options import Option, construct, validate_names
from fedatlas.testing import instances
from fedatlas.testing.findings import Failed, NotApplicable

CLIENTS = 5
SETTING = {"clients": CLIENTS, "local_steps": 3, "rounds": 4, "batch": 2}  # of all checks, unless they say otherwise
TRIED = (0.1, 1.0, 0.01, 10.0, 0.001, 100.0)  # values of a number that must be given, in the order of trial
TRIALS = 60  # combinations that are tried
LACKING = {"mu": 0.1, "L": 20.0}  # values for constants that a problem does not know; 1 for others
LONG = 5  # local steps that an option may ask for by default; where its default is larger, this is taken
SAMPLED = {"participation": {"kind": "uniform", "count": 3}}
Run = tuple[str, Any, dict[str, Any]]  # words for sentences, a problem, options of the setting


@functools.cache
def problems() -> dict[str, Any]:
    """A small problem of each kind of computation, by the words that sentences use."""
    return {
        "logistic regression": instances.logistic(),
        "softmax regression on shared data": instances.softmax(heterogeneous=False, start_scale=1.0),
        "quadratics": instances.quadratic(),
        "a network in torch": instances.network({"kind": "mlp", "hidden": [5]}, dtype="float32"),
    }


@dataclass(frozen=True, eq=False)
class Candidate:
    """An algorithm that is checked.

    cls: its class. given: hyper-parameters by name. Those that must be given and are not get values that suit the small
    problems. Raises UserError if there is no such hyper-parameter, or if none of the values that are tried fits.
    """

    cls: type[Algorithm]
    given: Mapping[str, Any] = field(default_factory=dict)
    _runs: dict[str, History] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        validate_names(self.cls.title(), self.cls.options(), self.given)

    @property
    def name(self) -> str:
        """The algorithm's name."""
        return self.cls.name

    @functools.cached_property
    def values(self) -> dict[str, Any]:
        """The hyper-parameters that are given, and those that were chosen."""
        required = [one for name, one in self.cls.options().items() if one.required and name not in self.given]
        fixed = dict(self.given)
        if not required:
            return fixed
        names = [one.name for one in required]
        order = sorted(itertools.product(*map(_tried, required)), key=lambda ranked: sum(rank for rank, _ in ranked))
        tried = [
            fixed | dict(zip(names, (value for _, value in ranked), strict=True))
            for ranked in itertools.islice(order, TRIALS)
        ]
        return next(filter(self._improves, tried), tried[0])

    @property
    def many_steps(self) -> dict[str, int]:
        """The options that ask for many local steps, with their defaults. Runs have LONG of them."""
        counts = {name: one for name, one in self.cls.options().items() if int in one.members and "steps" in one.unit}
        return {name: one.default for name, one in counts.items() if not one.required and (one.default or 0) > LONG}

    def _improves(self, values: dict[str, Any]) -> bool:
        """Whether a few rounds with some hyper-parameters lessen the loss, wherever the algorithm is defined."""
        seen = False
        for problem in (problems()["quadratics"], problems()["logistic regression"]):
            try:
                rows = self.run(problem, values=values, rounds=6, batch=None, eval_rounds=6).rows
            except NotApplicable:
                continue
            except Exception:  # the check ``runs`` tells it
                return False
            seen = True
            if not rows[-1]["loss"] < rows[0]["loss"]:
                return False
        return seen

    def make(self, values: Mapping[str, Any] | None = None) -> Algorithm:
        """The algorithm with its values. values: others in their place. Raises UserError if they do not fit."""
        found: Algorithm = construct(self.cls.title(), self.cls, self.values if values is None else values)
        return found

    def simulate(
        self,
        problem: Any,
        seed: int = 1,
        block: int | None = None,
        threads: int = 1,
        values: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Simulation:
        """A Simulation on a problem. values: of hyper-parameters. options: of the setting.

        Raises NotApplicable where the algorithm is not defined.
        """
        setting = Setting(**SETTING | options)
        values = dict.fromkeys(self.many_steps, LONG) | dict(self.values if values is None else values)
        algorithm = self.make(values)
        asked = {name: one.constant for name, one in self.cls.options().items() if one.constant and name not in values}
        lacking = {name: constant for name, constant in asked.items() if problem.constant(constant) is None}
        if lacking:
            algorithm = self.make(values | {name: LACKING.get(constant, 1.0) for name, constant in lacking.items()})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of values that are allowed
            algorithm = algorithm.with_constants(problem)
            try:
                algorithm.validate(setting, problem)
            except UserError as error:
                raise NotApplicable(f"{error}.") from None
            return Simulation(algorithm, problem, setting, seed, block, threads)

    def run(self, problem: Any, **options: Any) -> History:
        """The History of a run; arguments as of ``simulate``."""
        return run_simulations([self.simulate(problem, **options)], kernels=False)[0]

    def plain(self, kind: str) -> History:
        """The History of a run on one of the small problems, without options; it is computed once. kind: its words."""
        return self.once(kind, problems()[kind])

    def once(self, words: str, problem: Any, **options: Any) -> History:
        """The History of a run that several checks ask for. words: its name; other arguments as of ``run``."""
        if words not in self._runs:
            self._runs[words] = self.run(problem, **options)
        return self._runs[words]

    def defined(self, problem: Any, **options: Any) -> bool:
        """Whether the algorithm is defined for a problem under options of the setting."""
        try:
            self.simulate(problem, **options)
        except NotApplicable:
            return False
        return True

    @property
    def attending(self) -> dict[str, Any]:
        """Options of a setting in which some clients are away from a round, if the algorithm is defined for that."""
        return {} if self.cls.full_participation else SAMPLED

    @property
    def own(self) -> Any:
        """The smallest problem for which the algorithm is defined."""
        return problems()["quadratics" if self.cls.exact_prox else "logistic regression"]

    def alternatives(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The values, and those in which one option that is a choice takes another word; with words for sentences."""
        yield "its values", self.values
        default = self.make()
        for name, one in self.cls.options().items():
            words = [*one.words, *([True, False] if bool in one.members else [])]
            for word in words:
                values = {**self.values, name: word}
                if name not in self.given and word != getattr(default, name) and self._fits(values):
                    yield f"{name} = {word!r}", values

    def _fits(self, values: Mapping[str, Any]) -> bool:
        try:
            self.make(values)
        except UserError:
            return False
        return True

    def described(self) -> str:
        """The values that are not defaults, for people: ``lr = 0.1``."""
        return ", ".join(f"{name} = {value}" for name, value in self.values.items())


def where_defined(candidate: Candidate, runs: Iterable[Run]) -> Iterator[Run]:
    """Those of the runs for which a candidate is defined. Raises NotApplicable, with the last reason, if none is."""
    reason = None
    count = 0
    for words, problem, options in runs:
        try:
            candidate.simulate(problem, **options)
        except NotApplicable as error:
            reason = error
            continue
        count += 1
        yield words, problem, options
    if reason is not None and not count:
        raise reason


def everywhere(conditions: Mapping[str, dict[str, Any]] | None = None) -> Iterator[Run]:
    """All small problems, under each of some conditions: options of the setting by words for them."""
    for kind, problem in problems().items():
        for words, options in (conditions or {"": {}}).items():
            yield f"{kind}, {words}" if words else kind, problem, options


def same(one: Any, other: Any) -> bool:
    """Whether two arrays have the same bits; NaN equals NaN."""
    return bool(np.array_equal(to_numpy(one), to_numpy(other), equal_nan=True))


def require_finite(history: History, words: str, advice: str) -> None:
    """Raise Failed if a run diverged. words: where. advice: what to do."""
    if history.status != "ok" or not all_finite(history.x):
        raise Failed(f"On {words}, the output is not finite after round {history.diverged_round}: {advice}")


def _tried(one: Option) -> list[tuple[int, Any]]:
    """Values of an option that must be given, with their rank in the order of trial. Raises UserError if none fits."""
    if one.words:
        return [(0, one.words[0])]
    if bool in one.members:
        return [(0, False)]
    numbers = [int(max(1, value)) if float not in one.members else value for value in TRIED]
    bounds = [bound for bound in (one.low, one.high) if bound is not None]
    found = [value for value in dict.fromkeys([*numbers, *bounds]) if one.numeric and one.fits(value)]
    if not found:
        raise UserError(f"{one.name} has no default and is {one.expected}: give a value with --set {one.name}=VALUE")
    return list(enumerate(found))
