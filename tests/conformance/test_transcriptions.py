"""The conformance test against a transcription: search, sentences, and failures."""

import re

import pytest

from fedatlas.federation.algorithms.fedavg import FedAvg
from fedatlas.testing import Failed, Implementation, NotApplicable, transcriptions
from fedatlas.testing.outcomes import PACKAGE
from fedatlas.testing.transcriptions import PlainQuadraticRun
from tests.conformance.broken import Sound

RIGHT = """
from fedatlas.testing import transcription


@transcription("sound", "own-name")
def sound(run, lr, beta, period):
    x, m = run.x0, 0 * run.x0
    for t in range(run.T):
        changes = []
        for i in run.S(t):
            y = x
            for k in range(run.K):
                y = y - lr * (run.g(t, k, i, y) - beta * m)
            changes.append(y - x)
        if changes:
            x, m = x + sum(changes) / len(changes), sum(changes) / len(changes) / run.K
        yield x
"""
SOUND = Implementation(Sound, {"lr": 0.1})


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "transcriptions").mkdir()
    return lambda text, name="sound.py": (tmp_path / "transcriptions" / name).write_text(text)


def test_agrees(write):
    write(RIGHT)
    transcriptions.agreement(SOUND)


def test_the_example_of_the_page_agrees_with_fedavg(write, monkeypatch):
    page = PACKAGE.parents[1].joinpath("docs/how-to/checking.md").read_text(encoding="utf-8")
    write(page.split("```python\n")[1].split("```")[0], "my_algorithm.py")
    monkeypatch.setattr(FedAvg, "name", "my_algorithm")
    transcriptions.agreement(Implementation(FedAvg, {"server_lr": 0.7}))
    members = {name for name in dir(PlainQuadraticRun) if not name.startswith("_")} | {"x0", "m", "K", "T"}
    assert {
        member.partition("(")[0] for member in re.findall(r"`(\w+(?:\([\w, ]*\))?)`", page.split("## A tr")[1])
    } >= members


@pytest.mark.parametrize(
    "changes, sentence",
    [
        (
            ("beta * m", "0.9 * m"),
            r"transcription by \S+ after round 2 \(sound in transcriptions/sound",
        ),
        (("/ len(changes), ", "/ run.m, "), "after round 1 .*3 of 5 clients in a round"),
        (
            ("        yield x", "            yield x"),
            "5 vectors in 6 rounds .*rounds without clients",
        ),
        (("lr, beta, period", "lr, momentum"), r"called with run, lr, beta, period.: TypeError: .*'beta'"),
        (("y = x\n", "y = x + nothing\n"), "breaks .*NameError: name 'nothing' .*sound.py, line 11"),
        (
            ("import transcription", "import transcript"),
            "cannot be imported: ImportError: .*/sound.py, line 2",
        ),
        (("def sound(", "def sound)"), "cannot be imported: SyntaxError: .*sound.py, line 6"),
    ],
)
def test_fails_with_a_sentence(changes, sentence, write):
    assert changes[0] in RIGHT
    write(RIGHT.replace(*changes))
    with pytest.raises(Failed, match=sentence):
        transcriptions.agreement(SOUND)


def test_without_a_transcription_the_sentence_says_how_to_write_it(write):
    with pytest.raises(NotApplicable) as reason:
        transcriptions.agreement(SOUND)
    for words in ("There is no transcription of sound", "line by line", "docs/how-to/checking.md"):
        assert words in str(reason.value)
