"""Options of problems: what there is, of which type, in which range; one sentence for anything else."""

import pytest

from fedatlas import UserError, problems
from fedatlas.cli import main

QUADRATIC = {"kind": "quadratic", "dim": 3}
LOGISTIC = {"kind": "logistic", "data": "breast_cancer"}
NETWORK = {"kind": "network", "data": "digits"}


@pytest.mark.parametrize(
    "spec, message",
    [
        ({"kind": "quadratik"}, "unknown problem kind 'quadratik'; did you mean 'quadratic'"),
        ({"data": "a9a"}, "has no kind"),
        (QUADRATIC | {"dimm": 3}, "problem quadratic has no option 'dimm'; did you mean 'dim'"),
        (NETWORK | {"architektur": "mlp"}, "problem network has no option 'architektur'; did you mean 'architecture'"),
        (LOGISTIC | {"dim": 3}, "problem logistic has no option 'dim'"),
        ({"kind": "logistic"}, "problem logistic needs a value for 'data'"),
        (QUADRATIC | {"data": "a9a"}, "problem quadratic is synthetic and takes no data"),
        (LOGISTIC | {"data": "brest_cancer"}, "unknown data set 'brest_cancer'; did you mean 'breast_cancer'"),
        (LOGISTIC | {"test": ["a9a"]}, "unknown data set"),
        (QUADRATIC | {"dim": 0}, "dim is 0; it must be a whole number, at least 1"),
        (QUADRATIC | {"dim": True}, "dim is True; it must be a whole number"),
        (QUADRATIC | {"dim": 2.5}, "dim is 2.5; it must be a whole number"),
        (QUADRATIC | {"noise": -1}, "noise is -1; it must be a number, at least 0"),
        (QUADRATIC | {"L": "x"}, "L is 'x'; it must be a number"),
        (QUADRATIC | {"diagonal": 1}, "diagonal is 1; it must be true or false"),
        (QUADRATIC | {"instance": -1}, "instance is -1"),
        (LOGISTIC | {"l2": float("nan")}, "l2 is nan; it must be a number, at least 0"),
        (LOGISTIC | {"start_scale": float("inf")}, "start_scale is inf"),
        (LOGISTIC | {"partition": ["iid"]}, "partition is \\['iid'\\]; it must be a kind, or a mapping"),
        (NETWORK | {"device": "gpu"}, "device is 'gpu'; it must be cpu, cuda or auto"),
        (NETWORK | {"architecture": 5}, "architecture is 5; it must be a kind"),
        (NETWORK | {"eval_samples": -1}, "eval_samples is -1; it must be a whole number, at least 1, or all"),
        (NETWORK | {"eval_samples": None}, "eval_samples is None"),
    ],
)
def test_mistakes_are_one_sentence(spec, message):
    with pytest.raises(UserError, match=message) as caught:
        problems.check(spec)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("spec", [QUADRATIC, LOGISTIC | {"l2": 0, "partition": "iid"}, NETWORK | {"device": "auto"}])
def test_what_is_right_passes(spec):
    problems.check(spec)


@pytest.mark.parametrize("kind", problems.KINDS)
def test_options_are_read_from_the_source_as_python_would(kind):
    import inspect

    cls = problems.get(kind)
    module, name = problems.KINDS[kind].split(":")
    for method, options in problems._options(module, name).items():
        known = [p for p in inspect.signature(getattr(cls, method)).parameters if p not in ("clients", "data", "test")]
        assert [p for p in known if p != "partition"] == options


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--set", "lr=[", "--option", "dim=3"], "lr: '[' is not a YAML value"),
        (["--set", "lr=1e-3", "--option", "dim=-3"], "dim is -3"),
        (["--set", "lr=1e-3", "--option", "dim=3", "--seed", "-1"], "seed is -1"),
        (["--set", "lr=1e-3", "--option", "dim=3", "--threads", "0"], "threads is 0"),
        (["--set", "lr=1e-3", "--option", "dim=3", "--eval-rounds", "0"], "eval_rounds is 0"),
        (["--set", "lr=1e-3", "--option", "dim=3", "--active", "0"], "count is 0"),
    ],
)
def test_on_the_command_line(arguments, message, capsys):
    assert main(["train", "--algorithm", "fedavg", "--problem", "quadratic", "--rounds", "1", *arguments]) == 2
    assert message in capsys.readouterr().err
