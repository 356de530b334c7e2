"""Run files: one algorithm at one setting, with all tuning values and seeds."""


rule train:
    """A run file: an algorithm at one setting, with all tuned values and seeds."""
    input:
        unpack(atlas.run_inputs),
    output:
        # an existing file is kept: the job adds the runs that are missing
        update(f"{results}/{{size}}/{{experiment}}/runs/{{id}}/{{key}}.parquet"),
    log:
        f"{results}/logs/train/{{size}}/{{experiment}}/{{id}}/{{key}}.log",
    # on a cluster, small cells share a job; what is done of a job that ends early is kept by the next attempt
    group:
        lambda w: needs.batch(atlas.problem(w))
    conda:
        "../envs/fedatlas.yaml"
    resources:
        # a job that is tried again gets more memory
        mem_mb=lambda w, attempt: attempt * needs.needs(atlas.problem(w))["mem_mb"],
        runtime=lambda w: needs.needs(atlas.problem(w))["runtime"],
        gpu=lambda w: needs.needs(atlas.problem(w))["gpu"],
    params:
        spec=atlas.spec,
        # for jobs that log to a server; a function of the output, so that its words are no reason to run again
        live=lambda w, output: atlas.live(w),
        made=lambda w, input: " ".join(f"--{k} {input[k]}" for k in ("partition", "optimum") if k in input.keys()),
    shell:
        "fedatlas job run {params.spec:q} {output:q} {params.made} --threads {threads} {params.live} > {log:q} 2>&1"
