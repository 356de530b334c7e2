"""Python imports this at the start of a process: it notes the files of the package in which functions run.

The environment variable FEDATLAS_TRACE names the folder for the notes, a file of JSON for each process.
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
files = set()


def note(frame, event, arg):
    code = frame.f_code
    if event == "call" and code.co_flags & FUNCTION == FUNCTION and PACKAGE in code.co_filename:
        if code.co_filename.endswith(".py") and not code.co_name.startswith("<"):
            files.add(code.co_filename.rpartition(PACKAGE)[2])


def write(folder):
    words = [Path(sys.argv[0]).name, *sys.argv[1:]]
    Path(folder, f"{uuid.uuid4().hex}.json").write_text(json.dumps([words, sorted(files)]))


if "FEDATLAS_TRACE" in os.environ:
    atexit.register(write, os.environ["FEDATLAS_TRACE"])
    threading.setprofile(note)
    sys.setprofile(note)
