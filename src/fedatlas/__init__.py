"""fedatlas: an executable atlas of federated optimisation.

``train`` runs one algorithm on one problem: a specification, or a problem of plain arrays (``Logistic``, ``Softmax``,
``Network``, ``Quadratic``), which ``partitions`` splits over clients. ``sweep`` runs grids. ``plot`` draws what they
return. ``load_results`` reads what the workflow computed, whose file is ``SNAKEFILE``. ``FederatedLogisticRegression``
is a scikit-learn estimator. ``UserError`` is raised on all input that does not fit; it is a ValueError.
docs/how-to/python.md shows them.

The other names are what extensions derive from and use: ``Algorithm``, ``State``, ``option`` and so on;
docs/how-to/algorithm.md and adding.md have an example of each.

A name is imported from its module when it is first used, because jobs of the workflow must not load what a notebook
uses. What a result depends on is that module alone: `fedatlas.experiments.fingerprint` reads the tables below.
"""

import importlib
import sys
from typing import TYPE_CHECKING

if sys.platform == "win32":
    raise ImportError("fedatlas runs on Linux and macOS, with bash and their locks on files; on Windows, use it in WSL")

# The module that defines each name.
EXPORTS = {
    "Algorithm": "fedatlas.federation.algorithms.base",
    "AlgorithmFigure": "fedatlas.results.figures.base",
    "Architecture": "fedatlas.federation.architectures.base",
    "Array": "fedatlas.federation.arrays",
    "BITS": "fedatlas.federation.costs.base",
    "BoundedCheck": "fedatlas.results.claims.base",
    "Channel": "fedatlas.federation.channels.base",
    "Check": "fedatlas.results.claims.base",
    "Coded": "fedatlas.federation.channels.base",
    "CostModel": "fedatlas.federation.costs.base",
    "CustomReader": "fedatlas.data.readers.custom_reader",
    "DataKind": "fedatlas.federation.problems.base",
    "Cell": "fedatlas.results.figures.description",
    "Drawing": "fedatlas.results.figures.base",
    "Heatmap": "fedatlas.results.figures.description",
    "Lines": "fedatlas.results.figures.description",
    "TextTable": "fedatlas.results.figures.description",
    "describe_lines": "fedatlas.results.figures.description",
    "Driver": "fedatlas.federation.engine.drivers.base",
    "Evidence": "fedatlas.results.claims.evidence",
    "FederatedLogisticRegression": "fedatlas.api.estimator",
    "Figure": "fedatlas.results.figures.base",
    "FigureData": "fedatlas.results.figures.figure_data",
    "File": "fedatlas.data.catalogue.base",
    "Form": "fedatlas.data.catalogue.base",
    "Gradient": "fedatlas.federation.engine.steps",
    "IndependentParticipation": "fedatlas.federation.participation.independent",
    "Logistic": "fedatlas.federation.problems.from_arrays",
    "Metric": "fedatlas.federation.metrics.base",
    "Mixing": "fedatlas.federation.topologies.mixing",
    "MultiAlgorithmCheck": "fedatlas.results.claims.base",
    "Network": "fedatlas.federation.networks.from_arrays",
    "Note": "fedatlas.federation.channels.base",
    "OPERATIONS": "fedatlas.federation.costs.base",
    "Outcome": "fedatlas.results.claims.verdicts",
    "PanelFigure": "fedatlas.results.figures.base",
    "Participants": "fedatlas.federation.participation.base",
    "Participation": "fedatlas.federation.participation.base",
    "Problem": "fedatlas.federation.problems.base",
    "Quadratic": "fedatlas.federation.problems.quadratic",
    "QuantityCheck": "fedatlas.results.claims.base",
    "Reader": "fedatlas.data.readers.base",
    "Recurrence": "fedatlas.federation.algorithms.recurrences",
    "Round": "fedatlas.federation.engine.steps",
    "Rounds": "fedatlas.federation.engine.drivers.base",
    "Rows": "fedatlas.federation.channels.base",
    "SNAKEFILE": "fedatlas.workflow.configuration",
    "SampledProblem": "fedatlas.federation.sampling.sampler",
    "Sampler": "fedatlas.federation.sampling.sampler",
    "Samples": "fedatlas.data.readers.custom_reader",
    "Sampling": "fedatlas.federation.sampling.base",
    "Schedule": "fedatlas.federation.schedules.base",
    "Simulation": "fedatlas.federation.engine.simulation",
    "Softmax": "fedatlas.federation.problems.from_arrays",
    "Source": "fedatlas.data.catalogue.base",
    "Split": "fedatlas.federation.partitions.base",
    "State": "fedatlas.federation.arrays",
    "Steps": "fedatlas.federation.engine.steps",
    "SyntheticKind": "fedatlas.federation.problems.base",
    "Topology": "fedatlas.federation.topologies.base",
    "TuningRule": "fedatlas.experiments.tuning.base",
    "UserError": "fedatlas.errors",
    "Vectors": "fedatlas.federation.arrays",
    "equal_sizes": "fedatlas.federation.partitions.base",
    "exact_outcome": "fedatlas.results.claims.evidence",
    "judge_all": "fedatlas.results.claims.evidence",
    "load_results": "fedatlas.api.frames",
    "option": "fedatlas.registry.options",
    "plot": "fedatlas.api.plotting",
    "record": "fedatlas.api.record",
    "compare": "fedatlas.publish.comparison.compare",
    "stream": "fedatlas.federation.streams",
    "sweep": "fedatlas.api.sweep",
    "train": "fedatlas.api.train",
    "transcription": "fedatlas.testing.transcriptions",
}
# Modules that are names themselves.
MODULES = {
    "arrays": "fedatlas.arrays",
    "labels": "fedatlas.experiments.labels",
    "partitions": "fedatlas.federation.partitions",
}
__all__ = sorted([*EXPORTS, *MODULES])

if TYPE_CHECKING:  # the same names for type checkers and editors
    from fedatlas import arrays as arrays
    from fedatlas.api.estimator import FederatedLogisticRegression as FederatedLogisticRegression
    from fedatlas.api.frames import load_results as load_results
    from fedatlas.api.plotting import plot as plot
    from fedatlas.api.record import record as record
    from fedatlas.api.sweep import sweep as sweep
    from fedatlas.api.train import train as train
    from fedatlas.data.catalogue.base import File as File
    from fedatlas.data.catalogue.base import Form as Form
    from fedatlas.data.catalogue.base import Source as Source
    from fedatlas.data.readers.base import Reader as Reader
    from fedatlas.data.readers.custom_reader import CustomReader as CustomReader
    from fedatlas.data.readers.custom_reader import Samples as Samples
    from fedatlas.errors import UserError as UserError
    from fedatlas.experiments import labels as labels
    from fedatlas.experiments.tuning.base import TuningRule as TuningRule
    from fedatlas.federation import partitions as partitions
    from fedatlas.federation.algorithms.base import Algorithm as Algorithm
    from fedatlas.federation.algorithms.recurrences import Recurrence as Recurrence
    from fedatlas.federation.architectures.base import Architecture as Architecture
    from fedatlas.federation.arrays import Array as Array
    from fedatlas.federation.arrays import State as State
    from fedatlas.federation.arrays import Vectors as Vectors
    from fedatlas.federation.channels.base import Channel as Channel
    from fedatlas.federation.channels.base import Coded as Coded
    from fedatlas.federation.channels.base import Note as Note
    from fedatlas.federation.channels.base import Rows as Rows
    from fedatlas.federation.costs.base import BITS as BITS
    from fedatlas.federation.costs.base import OPERATIONS as OPERATIONS
    from fedatlas.federation.costs.base import CostModel as CostModel
    from fedatlas.federation.engine.drivers.base import Driver as Driver
    from fedatlas.federation.engine.drivers.base import Rounds as Rounds
    from fedatlas.federation.engine.simulation import Simulation as Simulation
    from fedatlas.federation.engine.steps import Gradient as Gradient
    from fedatlas.federation.engine.steps import Round as Round
    from fedatlas.federation.engine.steps import Steps as Steps
    from fedatlas.federation.metrics.base import Metric as Metric
    from fedatlas.federation.networks.from_arrays import Network as Network
    from fedatlas.federation.participation.base import Participants as Participants
    from fedatlas.federation.participation.base import Participation as Participation
    from fedatlas.federation.participation.independent import IndependentParticipation as IndependentParticipation
    from fedatlas.federation.partitions.base import Split as Split
    from fedatlas.federation.partitions.base import equal_sizes as equal_sizes
    from fedatlas.federation.problems.base import DataKind as DataKind
    from fedatlas.federation.problems.base import Problem as Problem
    from fedatlas.federation.problems.base import SyntheticKind as SyntheticKind
    from fedatlas.federation.problems.from_arrays import Logistic as Logistic
    from fedatlas.federation.problems.from_arrays import Softmax as Softmax
    from fedatlas.federation.problems.quadratic import Quadratic as Quadratic
    from fedatlas.federation.sampling.base import Sampling as Sampling
    from fedatlas.federation.sampling.sampler import SampledProblem as SampledProblem
    from fedatlas.federation.sampling.sampler import Sampler as Sampler
    from fedatlas.federation.schedules.base import Schedule as Schedule
    from fedatlas.federation.streams import stream as stream
    from fedatlas.federation.topologies.base import Topology as Topology
    from fedatlas.federation.topologies.mixing import Mixing as Mixing
    from fedatlas.publish.comparison.compare import compare as compare
    from fedatlas.registry.options import option as option
    from fedatlas.results.claims.base import BoundedCheck as BoundedCheck
    from fedatlas.results.claims.base import Check as Check
    from fedatlas.results.claims.base import MultiAlgorithmCheck as MultiAlgorithmCheck
    from fedatlas.results.claims.base import QuantityCheck as QuantityCheck
    from fedatlas.results.claims.evidence import Evidence as Evidence
    from fedatlas.results.claims.evidence import exact_outcome as exact_outcome
    from fedatlas.results.claims.evidence import judge_all as judge_all
    from fedatlas.results.claims.verdicts import Outcome as Outcome
    from fedatlas.results.figures.base import AlgorithmFigure as AlgorithmFigure
    from fedatlas.results.figures.base import Drawing as Drawing
    from fedatlas.results.figures.base import Figure as Figure
    from fedatlas.results.figures.base import PanelFigure as PanelFigure
    from fedatlas.results.figures.description import Cell as Cell
    from fedatlas.results.figures.description import Heatmap as Heatmap
    from fedatlas.results.figures.description import Lines as Lines
    from fedatlas.results.figures.description import TextTable as TextTable
    from fedatlas.results.figures.description import describe_lines as describe_lines
    from fedatlas.results.figures.figure_data import FigureData as FigureData
    from fedatlas.testing.transcriptions import transcription as transcription
    from fedatlas.workflow.configuration import SNAKEFILE as SNAKEFILE
else:

    def __getattr__(name: str) -> object:
        if name in MODULES:
            return importlib.import_module(MODULES[name])
        if name in EXPORTS:
            return getattr(importlib.import_module(EXPORTS[name]), name)
        raise AttributeError(f"module 'fedatlas' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return __all__
