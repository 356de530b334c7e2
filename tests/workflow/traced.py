"""Run as a script: prints the modules whose functions run while cells are computed.

Arguments: cells with their run files and partitions as JSON, and the data directory.
"""

import json
import sys
from pathlib import Path

import fedatlas
from fedatlas.experiments.cells import CellSpec
from fedatlas.experiments.run import run_cell

ROOT, OPTIMIZED = str(Path(fedatlas.__file__).parent) + "/", 1  # flag of the code of functions, not of classes
ran = set()


def trace(frame, event, arg):
    if event == "call" and frame.f_code.co_filename.startswith(ROOT) and frame.f_code.co_flags & OPTIMIZED:
        ran.add(frame.f_code.co_filename)


def name(file):
    parts = Path(file).relative_to(ROOT).with_suffix("").parts
    return ".".join(("fedatlas", *(parts[:-1] if parts[-1] == "__init__" else parts)))


modules = {}
for cell, (spec, out, partition) in json.loads(sys.argv[1]).items():
    ran.clear()
    sys.setprofile(trace)
    run_cell(CellSpec.from_dict(spec), out, sys.argv[2], partition)
    sys.setprofile(None)
    modules[cell] = sorted(map(name, ran))
print(json.dumps(modules))
