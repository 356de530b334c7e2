"""Run files: one algorithm at one setting, with all tuning values and seeds."""


rule train:
    """A run file: an algorithm at one setting, with all tuned values and seeds."""
    input:
        unpack(graph.run_inputs),
        # its digest says whether it has changed, not its time
        spec=lambda w: ancient(graph.specification("train", w)),
    output:
        # an existing file is kept: the job adds the runs that are missing
        update(f"{results}/{{size}}/{{experiment}}/runs/{{id}}/{{key}}.parquet"),
    log:
        f"{results}/logs/train/{{size}}/{{experiment}}/{{id}}/{{key}}.log",
    # on a cluster, small cells share a job; what is done of a job that ends early is kept by the next attempt
    group:
        graph.run_group
    conda:
        "../envs/fedatlas.yaml"
    resources:
        # a job that is tried again gets more memory
        mem_mb=lambda w, attempt, threads: attempt * graph.run_resources(w, threads)["mem_mb"],
        runtime=lambda w: graph.run_resources(w)["runtime"],
        gpu=lambda w: graph.run_resources(w)["gpu"],
        # the default of a cluster is made of the sizes of inputs, which are unknown when launcher is derived
        disk_mb=1000,
    params:
        digest=lambda w: graph.digest("train", w),
        # what is derived from resources makes no result again
        launcher=lambda w, resources, threads: graph.run_launcher(w, resources, threads),
        tasks=lambda w, resources: resources.get("tasks") or 1,
    shell:
        "{params.launcher}fedatlas job run {input.spec:q} {output:q} --threads {threads} --tasks {params.tasks}"
        " > {log:q} 2>&1"


use rule train as add_seeds with:
    input:
        unpack(graph.add_seeds_inputs),
        spec=lambda w: ancient(graph.specification("add_seeds", w)),
    output:
        update(f"{results}/{{size}}/{{experiment}}/runs-{{seeds}}/{{id}}/{{key}}.parquet"),
    log:
        f"{results}/logs/add_seeds/{{size}}/{{experiment}}/{{seeds}}/{{id}}/{{key}}.log",
    params:
        digest=lambda w: graph.digest("add_seeds", w),
        launcher=lambda w, resources, threads: graph.run_launcher(w, resources, threads),
        tasks=lambda w, resources: resources.get("tasks") or 1,
