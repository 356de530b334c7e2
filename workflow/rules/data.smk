"""Data downloaded, verified and prepared; partitions; optima."""


rule prepare:
    """A data set: downloaded or copied from a mirror, verified, prepared."""
    input:
        code=atlas.source_code,
        # the content of own files is part of the source: a file that was only touched makes nothing again
        own=lambda w: [ancient(local(path)) for path in atlas.own_files(w)],
    output:
        atlas.folders.prepared("{data}"),
    log:
        f"{results}/logs/prepare/{{data}}.log",
    # missing data should stop the workflow before it has computed for an hour
    priority: 100
    localrule: True
    conda:
        "../envs/fedatlas.yaml"
    params:
        source=atlas.source,
    shell:
        "fedatlas data fetch {wildcards.data} > {log:q} 2>&1"


rule partition:
    """The split of a data set over clients."""
    input:
        unpack(atlas.partition_inputs),
    output:
        f"{results}/partitions/{{key}}.npz",
    log:
        f"{results}/logs/partitions/{{key}}.log",
    localrule: True
    conda:
        "../envs/fedatlas.yaml"
    params:
        spec=lambda w: text(atlas.origin(w, "partitions"), ordered=False),
    shell:
        "fedatlas job partition {params.spec:q} {output:q} > {log:q} 2>&1"


rule optimum:
    """The optimum of a problem, so that suboptimality can be measured."""
    input:
        unpack(atlas.optimum_inputs),
    output:
        f"{results}/optima/{{key}}.npz",
    log:
        f"{results}/logs/optima/{{key}}.log",
    conda:
        "../envs/fedatlas.yaml"
    resources:
        # for the solver, which holds the data as a network does not
        mem_mb=lambda w, attempt: attempt * needs.needs(atlas.origin(w, "optima")["problem"])["mem_mb"],
        runtime=120,
    params:
        spec=lambda w: text(atlas.folders.lying(atlas.origin(w, "optima")), ordered=False),
    shell:
        "fedatlas job optimum {params.spec:q} {output:q} > {log:q} 2>&1"
