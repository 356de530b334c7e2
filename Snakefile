"""fedatlas: from data to figures, MLflow and a report. `snakemake --cores 8` makes the tour."""

import shlex

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version, validate

from fedatlas.errors import UserError
from fedatlas.experiments.atlas import Atlas

min_version("9.8")


configfile: "config/config.yaml"


validate(config, "workflow/schemas/config.schema.yaml")
try:
    atlas = Atlas(config, workflow.basedir)
except UserError as error:
    raise WorkflowError(str(error)) from None
size = config["size"]


report: "workflow/report/workflow.rst"


wildcard_constraints:
    size="smoke|laptop|paper",
    experiment=r"\w+",
    id="[^/]+",
    key="[^/]+",
    figure=r"\w+",


rule tour:
    default_target: True
    input:
        "results/report.html",


rule all:
    input:
        f"results/{size}/report.html",


for experiment in atlas.paths:

    rule:
        name:
            experiment
        input:
            f"results/{size}/{experiment}/report.html",


include: "workflow/rules/data.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/analysis.smk"
include: "workflow/rules/report.smk"
