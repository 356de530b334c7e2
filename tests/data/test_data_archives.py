"""What a hostile archive may try."""

import gzip
import io
import struct
import tarfile
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedatlas.data.readers import archives
from fedatlas.errors import UserError

from .pack import packed, special, tar

LIMIT = 1 << 20


def listed(path, limit=LIMIT) -> dict:
    with archives.members(path, limit) as entries:
        return {name: content() for name, content in entries}


CONTENT = {"./a/x": b"one", "a/y": b"", "z": b"three" * 99}


def test_members_come_out_as_they_went_in(put):
    assert listed(put("a.tar.gz", tar(CONTENT | {"d": special("d", tarfile.DIRTYPE)}))) == CONTENT
    assert listed(put("a.zip", packed(CONTENT | {"d/": b""}))) == CONTENT


@pytest.mark.parametrize("name", ["../up", "a/../../up", "/etc/passwd", "..\\up", "C:\\up", "\\up"])
def test_names_that_leave_the_archive_are_refused(put, name):
    for path in (put("a.tar.gz", tar({name: b"x"})), put("a.zip", packed({name: b"x"}))):
        with pytest.raises(UserError, match="points outside the archive, which is refused"):
            listed(path)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(put, kind):
    with pytest.raises(UserError, match="'evil' is a link or a device, which is refused"):
        listed(put("a.tar.gz", tar({"evil": special("evil", kind, "z")})))


def test_a_link_in_a_zip_is_refused(put):
    entry = zipfile.ZipInfo("evil")
    entry.create_system, entry.external_attr = 3, 0o120777 << 16
    with pytest.raises(UserError, match="'evil' is encrypted or a link"):
        listed(put("a.zip", packed({entry: b"/etc/passwd"})))


def test_bombs_are_refused_before_they_unpack(put):
    bomb = {"zeros": bytes(LIMIT + 1)}
    for path in (put("a.tar.gz", tar(bomb)), put("a.zip", packed(bomb))):
        assert path.stat().st_size < 5000
        with pytest.raises(UserError, match=r"unpacks to .* bytes, more than the 1,048,576"):
            listed(path)


def test_a_zip_that_understates_its_sizes_gives_no_more_than_it_says(put):
    content = bytearray(packed({"x": bytes(5000)}))
    for place, offset in ((content.find(b"PK\1\2"), 24), (0, 22)):
        struct.pack_into("<I", content, place + offset, 10)
    with pytest.raises(UserError, match="is not a readable archive"):
        listed(put("a.zip", bytes(content)))


def test_a_header_that_is_itself_a_bomb_is_refused(put):
    entry = tarfile.TarInfo("x")
    entry.pax_headers = {"comment": "0" * (3 * LIMIT)}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(entry)
    with pytest.raises(UserError, match=r"unpacks to .* bytes, more than"):
        listed(put("a.tar.gz", out.getvalue()))


@pytest.mark.parametrize("damage", [lambda c: c[: len(c) // 2], lambda c: b"", lambda c: b"junk" * 300])
def test_damaged_archives_are_refused(put, damage):
    rng = np.random.default_rng(0)
    content = {"x": rng.bytes(5000), "y": rng.bytes(5000)}
    for path in (put("a.tar.gz", damage(tar(content))), put("a.zip", damage(packed(content)))):
        with pytest.raises(UserError, match="is not a readable archive"):
            listed(path)


@given(st.integers(0, 1 << 20), st.integers(1, 255), st.sampled_from([tar, packed]))
@settings(deadline=None, max_examples=100)
def test_a_flipped_byte_never_gives_another_exception(tmp_path_factory, place, flip, pack):
    content = bytearray(pack(CONTENT))
    content[place % len(content)] ^= flip
    path = tmp_path_factory.mktemp("flip") / ("a.zip" if pack is packed else "a.tar.gz")
    path.write_bytes(content)
    try:
        listed(path)
    except UserError:
        pass


def test_gzip_is_streamed_not_trusted(put):
    """A tar.gz whose payload never ends is left as soon as it exceeds what can be needed."""
    path = put("a.tar.gz", gzip.compress(bytes(64 << 20), 1))
    assert listed(path) == {}  # two empty blocks end a tar: nothing after them is read
