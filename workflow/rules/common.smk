"""The study, and what the rules ask of it."""

import functools
import gc
import logging

from snakemake.exceptions import WorkflowError

from fedatlas.data import sources
from fedatlas.errors import UserError
from fedatlas.io.files import ensure_writable
from fedatlas.workflow import configuration, console, dependencies, summary
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.study import Study

if configuration.CONFIG.exists():

    configfile: str(configuration.CONFIG)


try:
    if workflow.is_main_process and not workflow.dryrun:
        ensure_writable(".snakemake/lock")  # where Snakemake cannot keep its own files, it ends in a traceback
    if workflow.modifier.path_modifier.prefix:
        raise UserError("a module of the atlas takes no prefix: name another folder by `results` in its config")
    study = Study(config, local=local)
    study.export(workflow)
except UserError as error:
    raise WorkflowError(str(error)) from None
analysis_file = lambda size, name, seeds: checkpoints.interim_analysis.get(
    size=size, experiment=name, seeds=seeds
).output[0]
graph = Graph(study, analysis_file, lambda: workflow.dryrun)
settings = workflow.resource_settings
is_cluster = workflow.is_main_process and settings.nodes is not None
defaults = settings.default_resources.args if settings.default_resources else ()
asked = {*settings.resources, *(name for values in settings.overwrite_resources.values() for name in values)}
asked |= {argument.partition("=")[0] for argument in defaults}
requests = None
if is_cluster or not asked.isdisjoint(("mem_mb", "runtime", "gpu")):
    from fedatlas.workflow.estimates import Requests

    requests = Requests(graph)
size, results = study.config["size"], study.folders.results


def run_inputs(w):
    """Return the inputs of a run file; one that Snakemake has no record of is compared with what is asked for."""
    dependencies.mark(w, graph, workflow)
    return graph.run_inputs(w)


def print_summary():
    """Print the summary of a run, if the logger does not."""
    if not console.Messages.active and (text := console.Messages.summarize()):
        print(text)


if workflow.is_main_process:
    console.Messages.summarize = staticmethod(lambda: summary.summary(study, workflow.dag.derived_targetfiles))
    gc.disable()  # until the first job: the planned jobs stay
    logging.getLogger(console.LOGGER).addFilter(functools.partial(summary.begin_jobs, workflow))
