"""Shakespeare's plays by speaking role, for the prediction of the next character."""

from fedatlas.data.catalogue import File, Form, Source
from fedatlas.data.readers.plays import ALPHABET

_LENGTH = 4  # characters before the one that is predicted
_SHA256 = "fa492c3cee741931d1b94628ee91441b640e916457d521ac302b59f1563fb8e5"

SHAKESPEARE = Source(
    "shakespeare",
    title="Shakespeare's plays, 40 of 947 speaking roles: the next character after four",
    group="shakespeare",
    page="https://www.gutenberg.org/ebooks/author/65",
    licence="public domain; the collection of the Open Knowledge Foundation: CC BY 2.5",
    citation="caldas2018leaf",
    forms=(
        Form(
            "plays",
            # this project computed the checksum, in November 2026
            (File("plays.zip", (), 1_947_966, f"sha256:{_SHA256}"),),
            {"length": _LENGTH, "least": 200, "every": 24, "stride": 12},
        ),
    ),
    classes=len(ALPHABET),
    rows=14_554,
    test_rows=3_644,
    shape=(_LENGTH * len(ALPHABET),),
    dtype="float64",
    sparse=True,
    clients=40,
    note="Project Gutenberg's modern-spelling texts of 37 plays, which come with fedatlas. Every 24th role by "
    "length is a client, every 12th character a label. LEAF has all roles.",
)
