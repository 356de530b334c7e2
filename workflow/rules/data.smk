"""Data downloaded, verified and prepared; partitions; optima."""


localrules:
    prepare,
    partition,


rule prepare:
    input:
        code=atlas.code("prepare"),
    output:
        f"{config['data']}/prepared/{{data}}/meta.json",
    log:
        "results/logs/prepare/{data}.log",
    # missing data should stop the workflow before it has computed for an hour
    priority: 100
    params:
        source=lambda w: atlas.source(w.data),
    shell:
        "fedatlas data fetch {wildcards.data} > {log:q} 2>&1"


rule partition:
    input:
        code=atlas.code("partition"),
        data=lambda w: atlas.made_data(f"results/partitions/{w.key}.npz"),
    output:
        "results/partitions/{key}.npz",
    log:
        "results/logs/partitions/{key}.log",
    params:
        spec=lambda w: atlas.made_from(f"results/partitions/{w.key}.npz"),
    shell:
        "fedatlas job partition {params.spec:q} {output:q} > {log:q} 2>&1"


rule optimum:
    input:
        code=lambda w: atlas.made_code(f"results/optima/{w.key}.npz"),
        data=lambda w: atlas.made_data(f"results/optima/{w.key}.npz"),
    output:
        "results/optima/{key}.npz",
    log:
        "results/logs/optima/{key}.log",
    resources:
        mem_mb=atlas.optimum_memory,
        runtime=120,
    params:
        spec=lambda w: atlas.made_from(f"results/optima/{w.key}.npz"),
    shell:
        "fedatlas job optimum {params.spec:q} {output:q} > {log:q} 2>&1"
