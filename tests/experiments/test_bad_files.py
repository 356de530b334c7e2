"""Whatever lies in a configuration, the answer is an experiment or one sentence."""

import copy
import dataclasses
import json

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fedatlas import UserError
from fedatlas.experiments import expansion, experiment_file
from fedatlas.workflow.configuration import validate
from tests.experiments.test_config import GOOD

WHOLE = GOOD | {
    "parts": 2,
    "grid": {"local_steps": [1, 2], "participation": [{"kind": "full"}, {"kind": "uniform", "count": 1}]},
    "within": {"clients": [2, 3]},
    "tune": {"lr": [0.1, 0.2]},
    "seeds": [0],
    "algorithms": {"fedavg": None, "fedprox": {"set": {"nu": 0.1}}},
    "figures": {"a": {"kind": "convergence", "x": "rounds", "caption": "A."}},
    "claims": {
        "b": {"text": "T.", "source": "S", "check": {"kind": "reaches", "algorithms": ["fedavg"], "at_most": 1}}
    },
}
NINE = [b"x", *(b", ".join([b"*" + bytes([96 + i])] * 9) for i in range(1, 9))]
BOMB = b"".join(b"%c: &%c [%s]\n" % (97 + i, 97 + i, inside) for i, inside in enumerate(NINE))
junk = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.dates(), st.binary(max_size=3)
)
anything = st.recursive(
    junk,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def good_or_said(path, size="smoke"):
    """Load, validate and expand a file; a UserError must be one sentence that names the file."""
    experiment = tried(path, experiment_file.load, path, size)
    steps = (
        [tried(path, step, experiment) for step in (validate, expansion.cells, expansion.create_view)]
        if experiment
        else []
    )
    if all(steps) and experiment:
        _, cells, view = steps
        json.dumps([[cell.spec.to_dict() for cell in cells], view.to_dict(), dataclasses.asdict(experiment)])
        json.dumps([vars(claim) for claim in experiment.claims.values()])


def tried(path, step, *arguments):
    """What a step gives, or False where it says what is wrong."""
    try:
        return step(*arguments) or True
    except UserError as error:
        assert "\n" not in str(error) and path.name in str(error)
        return False


@pytest.mark.parametrize(
    "content, message",
    [
        (b"\xff\xfe\x00title", "is not text"),
        (b'title: "\\U00110000"', "line 1: not valid YAML: .*Unicode"),
        (b"title: \x00", "not valid YAML"),
        (b"? [1, 2]\n: 3", "line 1: not valid YAML: .*key"),
        (b"title: x\n3: x", "line 2: not valid YAML: the key 3 is not text"),
        (b"- a\n- b", r"the file holds \['a', 'b'\]; it must hold a mapping of keys to values"),
        (b"", "the file holds None; it must hold a mapping of keys to values"),
        (b"title: &a [*a]", "holds more than 100,000 values, or itself"),
        (b"[" * 5000, "maximum nesting depth"),
        (b"- " * 5000, "nested too deeply"),
        (b"a: &a [x, x]\nb: *c", "line 2: not valid YAML: found undefined alias"),
        (BOMB, "holds more than 100,000 values"),
        (
            b"title: !!python/object/apply:os.system ['true']",
            "line 1: not valid YAML: .* which YAML reads as a python/object",
        ),
        (b"title: 2026-13-45", "not valid YAML"),
    ],
)
def test_files_that_are_no_experiments(tmp_path, content, message):
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message) as caught:
        experiment_file.load(path, "smoke")
    assert "mine.yaml" in str(caught.value) and "\n" not in str(caught.value)


def places(document, at=()):
    """Where a document has values, as tuples of keys."""
    result = [at] if at else []
    items = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    return result + [position for key, value in items for position in places(value, (*at, key))]


@quick
@given(st.sampled_from(places(WHOLE)), anything)
def test_any_value_anywhere(tmp_path, position, value):
    document = copy.deepcopy(WHOLE)
    target = document
    for key in position[:-1]:
        target = target[key]
    target[position[-1]] = value
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(document))
    good_or_said(path)
