"""Plays by speaking role: who says what, and which characters a sample sees."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from fedatlas.data.readers import Writer
from fedatlas.data.readers.plays import ALPHABET, Plays, role_texts

from .conftest import packed

WORDS = st.text(alphabet=ALPHABET + "ABC\n[]&7", min_size=1, max_size=30)


@given(st.lists(st.tuples(st.sampled_from(["ANNE.", "Ben.", "SIR JOHN"]), WORDS), max_size=8))
def test_every_character_belongs_to_its_speaker(speeches):
    """Speeches of any characters, as far as none ends the paragraph or is a name."""
    speeches = [(name, f"o {' '.join(words.split())} o".replace("[", "").replace("]", "")) for name, words in speeches]
    result = role_texts("ACT I.\n\n" + "\n\n".join(f"{name}\n{words}" for name, words in speeches))
    expected = {}
    for name, words in speeches:
        expected.setdefault(name.rstrip(".").casefold(), []).append(words)
    texts = {
        role: " ".join("".join(c for c in " ".join(parts).lower() if c in ALPHABET).split())
        for role, parts in expected.items()
        if len(parts) > 1
    }
    assert result == texts


@pytest.mark.parametrize("spacing, roles", [(1, ["anne", "ben"]), (2, ["anne"])])
def test_a_sample_is_the_characters_before_its_label(put, tmp_path, spacing, roles):
    texts = {"anne": "to be, or not to be:  that is", "ben": "nay; nay!"}
    play = "ACT I\n\n" + "\n\n".join(f"{role.upper()}.\n{word}" for role in texts for word in texts[role].split())
    path = put("plays.zip", packed({"b.txt": play.encode(), "a.txt": b"ACT I\n\nCY.\nI\n\nCY.\nNo.\n"}))
    Plays(length=2, least=8, every=spacing).read([path], None, Writer(tmp_path))
    samples = {name: [] for name in ("", "_test")}
    for owner, role in enumerate(roles):
        text = " ".join(texts[role].split())
        cut = int(0.8 * len(text))
        for suffix, labels in (("", range(2, cut)), ("_test", range(cut + 2, len(text)))):
            samples[suffix] += [(owner, text[at - 2], text[at - 1], text[at]) for at in labels]
    for suffix, expected in samples.items():
        data, columns, starts, y = (
            np.load(tmp_path / f"{name}.npy")
            for name in (f"X{suffix}_data", f"X{suffix}_indices", f"X{suffix}_indptr", f"y{suffix}")
        )
        rows = csr_matrix((data, columns, starts), (len(y), 2 * len(ALPHABET))).toarray().reshape(len(y), 2, -1)
        assert (rows.sum(axis=2) == 1).all() and rows.max() == 1
        nearest, other = (np.array(list(ALPHABET))[rows[:, position].argmax(axis=1)] for position in (0, 1))
        assert [row[1:] for row in expected] == list(zip(other, nearest, np.array(list(ALPHABET))[y], strict=True))
        assert np.load(tmp_path / f"owner{suffix}.npy").tolist() == [owner for owner, *_ in expected]
