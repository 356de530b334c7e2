"""Python imports this at the start of a process: it notes the files of the package in which functions run.

What runs while a module is imported does not count. The environment variable FEDATLAS_TRACE names the folder for the
notes, a file of JSON for each process.
"""

import atexit
import json
import os
import sys
import threading
import uuid
from pathlib import Path

PACKAGE = f"{os.sep}src{os.sep}fedatlas{os.sep}"
FUNCTION = 0x1 | 0x2  # flags of the code of a function; the body of a class has neither
files, local = set(), threading.local()


def note(frame, event, arg):
    code = frame.f_code
    if event not in ("call", "return") or PACKAGE not in code.co_filename or not code.co_filename.endswith(".py"):
        return
    if code.co_name == "<module>":
        local.imports = getattr(local, "imports", 0) + (1 if event == "call" else -1)
    elif event == "call" and code.co_flags & FUNCTION == FUNCTION and not getattr(local, "imports", 0):
        files.add(code.co_filename.rpartition(PACKAGE)[2])


def write(folder):
    words = [Path(sys.argv[0]).name, *sys.argv[1:]]
    Path(folder, f"{uuid.uuid4().hex}.json").write_text(json.dumps([words, sorted(files)]))


if "FEDATLAS_TRACE" in os.environ:
    atexit.register(write, os.environ["FEDATLAS_TRACE"])
    threading.setprofile(note)
    sys.setprofile(note)
