"""Run files: one algorithm at one setting, with all tuning values and seeds."""

# Snakemake keeps an output for its job where the file lies here; of one in a storage it looks for a copy that is not there
kept = (lambda path: path) if workflow.storage_settings.default_storage_provider else update


rule train:
    """A run file: an algorithm at one setting, with all tuned values and seeds."""
    input:
        unpack(run_inputs),
    output:
        # an existing file is kept: the job adds the runs that are missing
        kept(f"{results}/{{size}}/{{experiment}}/runs/{{id}}/{{key}}.parquet"),
    log:
        f"{results}/logs/train/{{size}}/{{experiment}}/{{id}}/{{key}}.log",
    # on a cluster, small cells share a job, whose place they fill one after another
    group:
        requests.group if is_cluster else None
    conda:
        "../envs/fedatlas.yaml"
    resources:
        **(requests.of_cell if requests else {}),
        place=1,
    params:
        code=lambda w: graph.code("train", w),
        digest=lambda w: graph.digest("train", w),
        spec=lambda w, input: graph.specification("train", w, input),
    shell:
        "fedatlas job run - {output:q} --threads {threads} > {log:q} 2>&1 <<'END'\n{params.spec}\nEND"


# the seeds of an interim analysis after the first
use rule train as add_seeds with:
    output:
        kept(f"{results}/{{size}}/{{experiment}}/runs-{{seeds}}/{{id}}/{{key}}.parquet"),
    log:
        f"{results}/logs/add_seeds/{{size}}/{{experiment}}/{{seeds}}/{{id}}/{{key}}.log",
