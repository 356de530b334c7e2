"""Archives for tests, hostile ones too. They hold no time, so that they are the same each time."""

import gzip
import io
import tarfile
import zipfile


def tar(members: dict) -> bytes:
    """A tar.gz of name: bytes, or name: TarInfo for what is not a plain file."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
            else:
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(out.getvalue(), mtime=0)


def packed(members: dict) -> bytes:
    """A zip of name: bytes, or ZipInfo: bytes for what is not a plain file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            entry = name if isinstance(name, zipfile.ZipInfo) else zipfile.ZipInfo(name)
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return out.getvalue()
