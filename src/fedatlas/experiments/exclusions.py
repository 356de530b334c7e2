"""Exclusions from fingerprints: modules that change no number, and imports that a result does not depend on."""

# Modules that can change no number of a result, and why. Nothing is followed through them.
SILENT = {
    "fedatlas.errors": "words for people",
    "fedatlas.registry.options": "checks values and describes them",
    "fedatlas.registry.validation": "checks values and builds records of them",
    "fedatlas.registry.extensions": "finds modules of kinds",
    "fedatlas.registry.kinds": "finds kinds and builds them from their declared options",
    "fedatlas.io.files": "writes files whole",
    "fedatlas.io.yaml": "what files of YAML say reaches results through parameters",
    "fedatlas.io.text": "refuses files that are none of text",
    "fedatlas.io.machine": "asks what the machine has free, and how it keeps freed memory",
    "fedatlas.experiments.exclusions": "says what results depend on",
    "fedatlas.experiments.fingerprint": "says what results depend on",
    "fedatlas.experiments.dependencies": "says what results depend on",
    "fedatlas.federation.compiled.compilation": "lets one process at a time compile",
    "fedatlas.federation.compiled.modules": "says what results depend on",
    "fedatlas.experiments.canonical": "compares specifications",
    "fedatlas.experiments.result_files": "keeps rows and metadata in Parquet files",
    "fedatlas.federation.engine.memory": "estimates memory before a run, and refuses what exceeds it",
    "fedatlas.federation.engine.checkpoint": "keeps a run that is cut off; it goes on to the same bits",
    "fedatlas.federation.engine.inspection": "refuses what hooks must not return",
    "fedatlas.federation.algorithms.declaration": "refuses what classes must not declare",
    "fedatlas.federation.engine.pools": "chooses threads for blocks; results come in the order of the blocks",
    "fedatlas.data.catalogue": "entries reach results through prepared data, whose rule has the entry as a parameter",
    "fedatlas.data.sources": "entries reach results through prepared data, whose rule has the entry as a parameter",
    "fedatlas.data.custom": "entries reach results through prepared data, whose rule has the entry as a parameter",
    "fedatlas.data.paths": "says where files lie",
    "fedatlas.registry.bibliography": "references reach results through a file that holds them",
    "fedatlas.data.locks": "lets one process at a time write data",
    "fedatlas.experiments.shared_files": "names files that are inputs of rules; their specifications are parameters",
}
# Imports that are not followed: (importer, imported module), and why. The importer's results depend on the imported
# module only where something else says so, mostly `fedatlas.experiments.dependencies`, which reads it from the
# specification. The style of an import never matters: one inside a function is followed like any other.
DETACHED = {
    **{
        ("fedatlas.experiments.run", f"fedatlas.experiments.{name}"): "says what is run, and changes no number of a "
        "run; dependencies adds it to run files with a choice"
        for name in ("tuning", "tuning.confirmation")
    },
    (
        "fedatlas.experiments.run_rows",
        "fedatlas.experiments.scores",
    ): "says which rows of runs that compare values are kept; the tuning rule of such runs imports it",
    **{
        (f"fedatlas.experiments.{name}", "fedatlas.federation.engine.history"): "the name of a column"
        for name in ("labels", "scores")
    },
    (
        "fedatlas.federation.engine.drivers.base",
        "fedatlas.federation.costs",
    ): "dependencies adds the cost model of runs that have a clock; figures depend on the one that they take",
    (
        "fedatlas.federation.problems",
        "fedatlas.federation.partitions",
    ): "jobs read the partition from a file, which is an input of their rule",
    (
        "fedatlas.federation.problems.network",
        "fedatlas.federation.networks.device",
    ): "names the device in metadata; the problem's oracle, which dependencies adds, imports what computes",
    **{
        ("fedatlas.federation.compiled", f"fedatlas.federation.compiled.{name}"): "dependencies adds the compiled "
        "parts that a specification may run"
        for name in ("lockstep", "dense_rows", "scoring", "sparse_gradients", "sequential")
    },
    **{
        ("fedatlas.federation.compiled.sequential", f"fedatlas.federation.compiled.{name}"): "dependencies adds it to "
        "networks that may be compiled"
        for name in ("passes", "plans")
    },
    **{
        (f"fedatlas.results.claims.{check}", f"fedatlas.{module}"): "dependencies adds it to checks that need it"
        for check, modules in {
            "below": ("theory.fedawe", "theory.fedawe.trajectories"),
            "exponent": ("results.comparing.theorems", "theory.fedac"),
            "reaches": ("results.comparing.theorems", "theory.closed_forms", "theory.fedac.instability"),
        }.items()
        for module in modules
    },
}
