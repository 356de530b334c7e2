"""The problems, built from specifications. A kind is imported when it is asked for: convex jobs never see torch."""

import ast
import functools
import importlib
from pathlib import Path

from fedatlas import architectures as networks
from fedatlas import partitions
from fedatlas.data.prepared import load
from fedatlas.data.sources import info
from fedatlas.errors import UserError
from fedatlas.problems import options
from fedatlas.registry import call, did_you_mean, lookup

KINDS = {
    "logistic": "fedatlas.problems.logistic:Logistic",
    "softmax": "fedatlas.problems.softmax:Softmax",
    "quadratic": "fedatlas.problems.quadratic:Quadratic",
    "network": "fedatlas.torch.network:Network",
    "piecewise": "fedatlas.problems.piecewise:Piecewise",
    "similar": "fedatlas.problems.similar:SimilarQuadratic",
}


def get(kind):
    """The class of a kind. Raises UserError, with a guess, on an unknown one."""
    module, name = lookup("problem kind", kind, KINDS).split(":")
    return getattr(importlib.import_module(module), name)


def modules(spec):
    """Names of the modules that define a problem: its kind's and, of a network, its architecture's. Imports neither."""
    found = [lookup("problem kind", spec["kind"], KINDS).split(":")[0]]
    if spec["kind"] == "network":
        how = spec.get("architecture", "mlp")
        found.append(networks.module(how if isinstance(how, str) else how.get("kind")))
    return tuple(found)


def check(spec):
    """Raise UserError if a specification has options or data that there are not, or values out of range.

    Imports no kind of problem.
    """
    if "kind" not in spec:
        raise UserError(f"the problem {spec!r} has no kind")
    kind = spec["kind"]
    module, name = lookup("problem kind", kind, KINDS).split(":")
    takes = _options(module, name)
    given = {"kind", "data", "test", "partition"} if "data" in spec else {"kind"}
    how = "from_data" if "data" in spec else "create"
    if how not in takes:
        wrong = "is synthetic and takes no data" if "data" in spec else "needs a value for 'data'"
        raise UserError(f"problem {kind} {wrong}")
    for option in spec:
        if option not in given and option not in takes[how]:
            raise UserError(f"problem {kind} has no option {option!r}{did_you_mean(option, takes[how])}")
    options.check(f"problem {kind}", spec)
    for key in ("data", "test"):
        if spec.get(key):
            info(spec[key])


@functools.cache
def _options(module, name):
    """Options of a kind by the method that takes them, read from its source: importing a network takes seconds."""
    tree = ast.parse(Path(__file__).with_name(f"{module.rpartition('.')[2]}.py").read_text())
    (body,) = [node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
    given = {"cls", "clients", "data", "test", "partition"}
    return {
        node.name: [a.arg for a in (*node.args.args, *node.args.kwonlyargs) if a.arg not in given]
        for node in body
        if isinstance(node, ast.FunctionDef) and node.name in ("create", "from_data")
    }


def variants():
    """The least specifications that differ in their modules."""
    plain = [{"kind": kind} for kind in KINDS if kind != "network"]
    return [*plain, *({"kind": "network", "architecture": name} for name in networks.KINDS)]


def create(spec, clients, directory=None, partition=None):
    """A problem from its specification.

    spec: ``kind``, the kind's options, and for problems on data ``data``, optionally ``test`` (another data set) and
    ``partition`` (a specification; without one every client draws from all data). clients: m. directory: where the
    prepared data are. partition: a Partition that was made before; by default it is made here.
    """
    check(spec)
    chosen = dict(spec)
    kind = chosen.pop("kind")
    cls, what = get(kind), f"problem {kind}"
    if "data" not in chosen:
        return call(what, cls.create, chosen, clients=clients)
    train = load(chosen.pop("data"), directory)
    test = load(name, directory) if (name := chosen.pop("test", None)) else None
    if test is not None and test.X.shape[1:] != train.X.shape[1:]:
        raise UserError(
            f"{what}: samples of {test.name} have another shape than those of {train.name}: test on another"
        )
    how = chosen.pop("partition", None)
    if partition is None and how is not None:
        partition = partitions.split(how, train.y, clients)
    return call(what, cls.from_data, chosen, data=train, test=test, partition=partition)
