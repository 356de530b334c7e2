"""Archives are read in memory."""

import tarfile

from fedatlas.data.readers import published_images

from .pack import packed, special, tar

CONTENT = {"./a/x": b"one", "a/y": b"", "z": b"three" * 99}


def test_members_come_out_as_they_went_in(put):
    for path in (
        put("a.tar.gz", tar(CONTENT | {"d": special("d", tarfile.DIRTYPE)})),
        put("a.zip", packed(CONTENT | {"d/": b""})),
    ):
        assert {name: content() for name, content in published_images.members(path)} == CONTENT
