"""Every result depends on exactly what made it: a table of edits, each with all that must be made again and no more.

Everything is made in a small copy of the project. After an edit, Snakemake's own plan says what it would make. For some
edits, and for all of them in `make slow`, the workflow really runs, and the times of the files tell what it made. Edits
are independent of each other, so they may come in any order.
"""

import copy

import pytest
import yaml

from tests.workflow.edited import CONVEX

SINE, FILE = "participation=sine-0.9", "participation=trace-trace.csv"


# -- what is made from what, in words ---------------------------------------------------------------------------------


DISPLAYS = {"mlflow", "report"}  # what shows the results of the tour


def descriptions(experiment):
    """What is said of an experiment, and what shows it."""
    return {f"{experiment} about"} | DISPLAYS


def figures(experiment, *names):
    """Figures, and what shows them."""
    return {f"{experiment} figure {name}" for name in names} | DISPLAYS


def claims(experiment):
    """Verdicts, and what shows them."""
    return {f"{experiment} claims"} | DISPLAYS


def table(experiment):
    """A table, and what is made from it."""
    names = {"convex": ["curves", "timed"], "quadratic": ["bars", "numbers"]}[experiment]
    return {f"{experiment} table"} | figures(experiment, *names) | claims(experiment)


def runs(experiment, *names):
    """Run files, and what is made from them."""
    return {f"{experiment} run {name}" for name in names} | table(experiment)


def both_runs(algorithm):
    """The run files of an algorithm on the convex problem."""
    return f"{algorithm} {SINE}", f"{algorithm} {FILE}"


CONVEX_RUNS = runs("convex", *both_runs("fedavg"), *both_runs("mifa"))
QUADRATIC_RUNS = runs("quadratic", "scaffold all")
EVERY_RUN = CONVEX_RUNS | QUADRATIC_RUNS
EVERY_TABLE = table("convex") | table("quadratic")
FROM_PARTITION = CONVEX_RUNS | figures("convex", "split", "there")
PAGES = DISPLAYS | DISPLAYS  # MLflow holds the reports of experiments
FROM_DATA = FROM_PARTITION | {"prepared", "partition", "optimum"}

# -- edits of the package: a line more in a module --------------------------------------------------------------------

MODULES = [
    ("federation/algorithms/scaffold.py", QUADRATIC_RUNS),
    ("federation/algorithms/mifa.py", runs("convex", *both_runs("mifa"))),
    ("federation/problems/quadratic.py", QUADRATIC_RUNS),
    ("federation/problems/logistic.py", CONVEX_RUNS | {"optimum"}),
    ("federation/participation/sine.py", runs("convex", f"fedavg {SINE}", f"mifa {SINE}") | figures("convex", "there")),
    (
        "federation/participation/trace.py",
        runs("convex", f"fedavg {FILE}", f"mifa {FILE}") | figures("convex", "there"),
    ),
    ("federation/schedules/exponential.py", QUADRATIC_RUNS),
    ("federation/partitions/dirichlet.py", FROM_PARTITION | {"partition"}),
    ("data/readers/embedded.py", FROM_DATA),
    ("federation/engine/simulation.py", EVERY_RUN),
    ("experiments/tables.py", EVERY_TABLE),
    ("results/figures/scaling.py", figures("quadratic", "bars")),
    ("results/figures/table.py", figures("quadratic", "numbers")),
    ("workflow/inputs/partitions.py", figures("convex", "split")),
    ("federation/costs/cross_device.py", figures("convex", "timed")),
    ("results/claims/reaches.py", claims("convex")),
    ("federation/metrics/distance.py", table("quadratic")),
    ("publish/report/page.py", PAGES | figures("quadratic", "numbers")),  # a table is a page of its own
    ("publish/tracking/records.py", {"mlflow"}),
]
UNUSED = [  # by these experiments, or by any number
    "federation/algorithms/fedcm.py",
    "federation/problems/network.py",
    "federation/architectures/lenet.py",
    "federation/participation/markov.py",
    "federation/schedules/inverse_sqrt.py",
    "federation/partitions/classes.py",
    "data/readers/published_images.py",
    "federation/compiled/kernels.py",
    "results/figures/heatmap.py",
    "federation/costs/cross_silo.py",
    "results/claims/better.py",
    "theory/evaluation.py",
    "federation/metrics/test_loss.py",
    "federation/engine/resources.py",
    "federation/engine/checkpoint.py",
    "errors.py",
    "registry/kinds.py",
    "registry/options.py",
    "experiments/result_files.py",
    "experiments/experiment_file.py",
    "workflow/configuration.py",
    "workflow/graph.py",
    "cli/main.py",
    "cli/list.py",
]

# -- edits of words ---------------------------------------------------------------------------------------------------

WORDS = [  # (file of the package, old, new), none of which changes any result
    ("federation/algorithms/scaffold.py", '"""SCAFFOLD', '"""The SCAFFOLD'),
    ("federation/algorithms/scaffold.py", "        y = s.x\n", "        y = s.x  # start\n"),
    (
        "federation/problems/logistic.py",
        "logistic regression needs two classes",
        "logistic regression is for two classes",
    ),
]

# -- edits of experiment files ----------------------------------------------------------------------------------------


def changed(experiment, path, value):
    """An experiment with one key changed; the path has dots."""
    result = copy.deepcopy(experiment)
    *keys, last = path.split(".")
    target = result
    for key in keys:
        target = target[key]
    target[last] = value
    return result


STATIONARY, PROX = {"kind": "stationary", "p": 0.8}, "fedprox"
KEYS = [  # (experiment, key, value, what must be made again)
    ("convex", "title", "Other", descriptions("convex")),
    ("convex", "paper", "sun2023", descriptions("convex")),
    ("convex", "source", "Elsewhere", descriptions("convex")),
    ("convex", "description", "Words.", descriptions("convex")),
    ("convex", "notes", ["A note."], descriptions("convex")),
    ("convex", "problem.l2", 0.2, CONVEX_RUNS | {"optimum"} | descriptions("convex")),
    ("convex", "problem.partition.alpha", 2.0, FROM_PARTITION | {"partition"} | descriptions("convex")),
    (
        "convex",
        "problem.partition",
        CONVEX["problem"]["partition"] | {"per_class": True},  # clients of different sizes, of which F is the mean
        FROM_PARTITION | {"partition", "optimum"} | descriptions("convex"),
    ),
    ("quadratic", "optimum", True, QUADRATIC_RUNS | {"optimum"} | descriptions("quadratic")),
    ("convex", "setting.batch", 5, CONVEX_RUNS | descriptions("convex")),
    ("convex", "setting.rounds", 4, CONVEX_RUNS | figures("convex", "there") | descriptions("convex")),
    (
        "convex",
        "grid.participation",
        [*CONVEX["grid"]["participation"], STATIONARY],
        runs("convex", "fedavg participation=stationary-0.8", "mifa participation=stationary-0.8")
        | figures("convex", "there")
        | descriptions("convex"),
    ),
    ("quadratic", "within.local_steps", [1, 2, 3], QUADRATIC_RUNS | descriptions("quadratic")),
    (
        "quadratic",
        "parts",
        2,
        runs("quadratic", "scaffold part=1-of-2", "scaffold part=2-of-2") | descriptions("quadratic"),
    ),
    ("convex", "tune.lr", [0.01, 0.02, 0.05], CONVEX_RUNS | descriptions("convex")),
    ("convex", "seeds", [0, 1], CONVEX_RUNS | descriptions("convex")),
    ("convex", "select.statistic", "final", CONVEX_RUNS | descriptions("convex")),
    (
        "convex",
        "algorithms.fedprox",
        {"set": {"nu": 0.1}},
        runs("convex", *both_runs("fedprox")) | descriptions("convex"),
    ),
    ("convex", "algorithms.mifa.label", "MIFA", table("convex") - {"convex table"} | descriptions("convex")),
    ("convex", "algorithms.mifa.set", {"server_lr": 0.5}, runs("convex", *both_runs("mifa")) | descriptions("convex")),
    ("convex", "figures.curves.yscale", "linear", figures("convex", "curves") | descriptions("convex")),
    ("convex", "figures.curves.caption", "Other words.", descriptions("convex")),
    ("convex", "claims.reached.check.at_most", 2.0, claims("convex") | descriptions("convex")),
    ("convex", "claims.reached.note", "A note.", claims("convex") | descriptions("convex")),
    (
        "quadratic",
        "figures.numbers.metrics",
        ["suboptimality"],
        figures("quadratic", "numbers") | descriptions("quadratic"),
    ),
    ("quadratic", "sizes.smoke", {"setting": {"clients": 4}}, QUADRATIC_RUNS | descriptions("quadratic")),
]

# -- edits of other files ---------------------------------------------------------------------------------------------

FILES = [  # (file, old, new, what must be made again)
    ("config/config.yaml", "size: smoke", "size: laptop", set()),
    ("config/config.yaml", "size: smoke", "size: smoke\nexperiments: [convex]", set()),
    ("config/config.yaml", "size: smoke", "size: smoke\ndata_mirrors: [/nowhere]", set()),
    ("config/config.yaml", "tour: [convex, quadratic]", "tour: [quadratic]", DISPLAYS),
    ("config/config.yaml", "size: smoke", "size: smoke\ndata: elsewhere", FROM_DATA),
    (
        "config/config.yaml",
        "size: smoke",
        "size: smoke\nmlflow_uri: sqlite:///results/other.db",
        {"mlflow"},
    ),
    ("trace.csv", "1,1,1", "1,2,1", runs("convex", f"fedavg {FILE}", f"mifa {FILE}") | figures("convex", "there")),
    ("src/fedatlas/references.bib", "{Yuan, Honglin and Ma, Tengyu}", "{Yuan, H. and Ma, T.}", descriptions("convex")),
    (
        "src/fedatlas/federation/algorithms/mifa.py",
        "server step size",
        "step size of the server",
        set(),
    ),
    ("src/fedatlas/publish/report/report.css", "body", "/* words */ body", PAGES | figures("quadratic", "numbers")),
    ("src/fedatlas/data/catalogue/embedded.py", "Features have zero mean", "All features have zero mean", FROM_DATA),
]


def appended(text):
    return f"{text}\nADDED = 1\n"


def replaced(old, new):
    return lambda text: text.replace(old, new, 1)


def with_key(key, value):
    return lambda text: yaml.safe_dump(changed(yaml.safe_load(text), key, value), sort_keys=False)


def rewritten(text):
    """An experiment whose partition has its keys in another order, and a default."""
    experiment = yaml.safe_load(text)
    partition = reversed([*experiment["problem"]["partition"].items(), ("per_class", False)])
    experiment["problem"]["partition"] = dict(partition)
    return yaml.safe_dump(experiment, sort_keys=False)


NOTHING = [
    *((f"src/fedatlas/{module}", appended) for module in UNUSED),
    *((f"src/fedatlas/{file}", replaced(old, new)) for file, old, new in WORDS),
    ("config/config.yaml", lambda text: f"{text}# a remark\n"),
    ("config/experiments/convex.yaml", lambda text: f"# a remark\n{rewritten(text)}"),
]
EDITS = {
    **{f"a line in {module}": ([(f"src/fedatlas/{module}", appended)], outputs) for module, outputs in MODULES},
    **{
        f"{name}: {key}": ([(f"config/experiments/{name}.yaml", with_key(key, value))], outputs)
        for name, key, value, outputs in KEYS
    },
    **{f"{file}: {new[-24:].strip()}": ([(file, replaced(old, new))], outputs) for file, old, new, outputs in FILES},
    "words and what is not used": (NOTHING, set()),
    "no edit": ([], set()),
}
REALLY = {"no edit"}


def grouped(outputs, files):
    """Group edits so that what is made again after one has nothing in common with what is made again after another.

    One plan tells what each edit of a group makes again. Reports and MLflow runs, which show all results, may be in
    common where an edit makes something else again as well.

    Args:
        outputs: What must be made again, by edit.
        files: Files that are edited, by edit.
    """
    groups = []
    for name in outputs:
        group = next((group for group in groups if all(_apart(outputs, files, name, other) for other in group)), None)
        if group is None:
            groups.append([name])
        else:
            group.append(name)
    return groups


def _apart(outputs, files, *names):
    """Whether edits are of different files, and make nothing in common but what shows other things that they make."""
    if any("tour:" in name for name in names):  # then others have less to make
        return False
    first, second = (outputs[name] for name in names)
    results = [{item for item in outputs[name] if not item.endswith(("report", "mlflow"))} for name in names]
    return (
        not files[names[0]] & files[names[1]]
        and (not first & second or all(results))
        and not set.intersection(*results)
    )


# `make slow` plans each edit. `make test` plans those of other inputs than the rest: of edits of a file that make the
# same again it plans one, and of keys that reach runs one for a cell, a grid, an entry and a problem. Edits of the
# configuration and of an experiment that need a plan of their own are left to `make slow`.
ALIKE = {
    "a line in publish/tracking/records.py",
    "convex: problem.partition",
    "convex: problem.partition.alpha",
    "convex: setting.batch",
    "convex: tune.lr",
    "convex: setting.rounds",
    "convex: algorithms.mifa.set",
    "convex: claims.reached.check.at_most",
    "quadratic: within.local_steps",
    "src/fedatlas/publish/report/report.css: /* words */ body",
    "src/fedatlas/data/catalogue/embedded.py: features have zero mean",
}
FIRST = {
    (frozenset(file for file, _ in edits), frozenset(outputs)): name
    for name, (edits, outputs) in reversed(EDITS.items())
    if name not in ALIKE
}
GROUPS = grouped(
    {name: EDITS[name][1] for name in reversed(FIRST.values())},
    {name: {file for file, _ in EDITS[name][0]} for name in FIRST.values()},
)


@pytest.mark.parametrize(
    "names",
    [
        *(group for group in GROUPS if len(group) > 1 or group[0].startswith("a line in")),
        *(pytest.param([name], marks=pytest.mark.slow) for name in EDITS),
    ],
    ids=str,
)
def test_an_edit_plans_what_it_must_and_nothing_else(copied_project, names):
    with copied_project.edited([edit for name in names for edit in EDITS[name][0]]):
        assert copied_project.planned() == set().union(*(EDITS[name][1] for name in names))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in REALLY else pytest.mark.slow) for name in EDITS]
)
def test_an_edit_makes_what_it_must_and_nothing_else(copied_project, name):
    edits, expected = EDITS[name]
    try:
        with copied_project.edited(edits):
            assert copied_project.run_workflow() == expected
    finally:
        copied_project.project.snakemake()


DELETED = {
    "smoke/convex/claims.csv": claims("convex"),
    "smoke/convex/figures/curves.svg": figures("convex", "curves"),
    "smoke/convex/figures/split.csv": figures("convex", "split"),
    "smoke/quadratic/table.csv": table("quadratic"),
    "claims.csv": {"report"},
}


def test_deleted_results_are_made_again(copied_project):
    kept = []
    for name in DELETED:
        file = copied_project.project.folder / "results" / name
        kept.append((file.rename(file.with_suffix(".kept")), file))
    try:
        assert copied_project.planned() == set().union(*DELETED.values())
    finally:
        for file, place in kept:
            file.rename(place)
