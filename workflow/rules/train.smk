"""Run files: one algorithm at one setting, with all tuning values and seeds."""

# Snakemake computes each resource and parameter of each job of a plan, so those that nobody asks for are left out.
settings = workflow.resource_settings
defaults = settings.default_resources
asked = {name for values in settings.overwrite_resources.values() for name in values}
asked |= {*settings.resources, *(argument.partition("=")[0] for argument in (defaults.args if defaults else ()))}


rule train:
    """A run file: an algorithm at one setting, with all tuned values and seeds."""
    input:
        unpack(run_inputs),
    output:
        # an existing file is kept: the job adds the runs that are missing
        update(f"{results}/{{size}}/{{experiment}}/runs/{{id}}/{{key}}.parquet"),
    log:
        f"{results}/logs/train/{{size}}/{{experiment}}/{{id}}/{{key}}.log",
    # on a cluster, small cells share a job, whose place they fill one after another
    group:
        requests.group if is_cluster else None
    conda:
        "../envs/fedatlas.yaml"
    resources:
        **requests.resources(asked),
    params:
        code=lambda w: graph.code("train", w),
        digest=lambda w: graph.digest("train", w),
        spec=lambda w, input: graph.specification("train", w, input),
    shell:
        "fedatlas job run - {output:q} --threads {threads} > {log:q} 2>&1 <<'END'\n{params.spec}\nEND"


use rule train as add_seeds with:
    input:
        unpack(run_inputs),
    output:
        update(f"{results}/{{size}}/{{experiment}}/runs-{{seeds}}/{{id}}/{{key}}.parquet"),
    log:
        f"{results}/logs/add_seeds/{{size}}/{{experiment}}/{{seeds}}/{{id}}/{{key}}.log",
    params:
        code=lambda w: graph.code("add_seeds", w),
        digest=lambda w: graph.digest("add_seeds", w),
        spec=lambda w, input: graph.specification("add_seeds", w, input),
