"""Run files: one algorithm at one setting, with all tuning values and seeds."""

# Where nobody asks for tasks, a plan needs none of its jobs' resources: Snakemake takes a fifth of its time for them.
settings = workflow.resource_settings
defaults = settings.default_resources
asked = {name for values in settings.overwrite_resources.values() for name in values}
asked |= {argument.partition("=")[0] for argument in (defaults.args if defaults else ())}
launch = requests.launch if asked & {"mpi", "tasks"} or study.folders.prefixed("") else requests.launch_alone


rule train:
    """A run file: an algorithm at one setting, with all tuned values and seeds."""
    input:
        unpack(run_files.inputs),
    output:
        # an existing file is kept: the job adds the runs that are missing
        update(f"{results}/{{size}}/{{experiment}}/runs/{{id}}/{{key}}.parquet"),
    log:
        f"{results}/logs/train/{{size}}/{{experiment}}/{{id}}/{{key}}.log",
    # on a cluster, small cells share a job, whose place they fill one after another
    group:
        requests.group if is_cluster else None
    resources:
        mem_mb=requests.memory,
        runtime=requests.minutes,
        gpu=requests.gpus,
        place=1,
        # the default of a cluster is made of the sizes of inputs, which are unknown when launch is derived
        disk_mb=1000,
    params:
        code=of("train").code,
        digest=of("train").digest,
        spec=of("train").spec,
        # what is derived from resources makes no result again
        launch=launch,
    shell:
        "{params.launch[command]}fedatlas job run - {output:q} --threads {threads} --tasks {params.launch[tasks]}"
        " > {log:q} 2>&1 <<'END'\n{params.spec}\nEND"


use rule train as add_seeds with:
    input:
        unpack(run_files.inputs_of_look),
    output:
        update(f"{results}/{{size}}/{{experiment}}/runs-{{seeds}}/{{id}}/{{key}}.parquet"),
    log:
        f"{results}/logs/add_seeds/{{size}}/{{experiment}}/{{seeds}}/{{id}}/{{key}}.log",
    params:
        code=of("add_seeds").code,
        digest=of("add_seeds").digest,
        spec=of("add_seeds").spec,
        launch=launch,
