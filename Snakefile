"""The workflow of this repository: `snakemake` finds it here, and the workflow catalogue in workflow/Snakefile."""


include: "workflow/Snakefile"


workflow.default_target = "tour"  # an included file sets none
