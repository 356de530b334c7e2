"""Data downloaded, verified and prepared; partitions; optima."""


rule prepare:
    """A data set: downloaded or copied from a mirror, verified, prepared."""
    input:
        code=graph.source_code,
        # the content of custom files is part of the source: a file that was only touched makes nothing again
        own=lambda w: [ancient(local(path)) for path in getattr(sources.info(w.data), "paths", ())],
    output:
        study.folders.prepared("{data}"),
    log:
        f"{results}/logs/prepare/{{data}}.log",
    # missing data should stop the workflow before it has computed for an hour
    priority: 100
    localrule: True
    conda:
        "../envs/fedatlas.yaml"
    params:
        code=lambda w: graph.code("prepare", w),
        source=lambda w: repr(sources.info(w.data)),
    shell:
        "fedatlas data fetch {wildcards.data:q} > {log:q} 2>&1"


rule partition:
    """The split of a data set over clients."""
    input:
        unpack(graph.partition_inputs),
    output:
        f"{results}/partitions/{{key}}.npz",
    log:
        f"{results}/logs/partitions/{{key}}.log",
    localrule: True
    conda:
        "../envs/fedatlas.yaml"
    params:
        code=lambda w: graph.code("partition", w),
        digest=lambda w: graph.digest("partition", w),
        spec=lambda w, input: graph.specification("partition", w, input),
    shell:
        "fedatlas job partition - {output:q} > {log:q} 2>&1 <<'END'\n{params.spec}\nEND"


rule optimum:
    """The optimum of a problem, so that suboptimality can be measured."""
    input:
        unpack(graph.optimum_inputs),
    output:
        f"{results}/optima/{{key}}.npz",
    log:
        f"{results}/logs/optima/{{key}}.log",
    conda:
        "../envs/fedatlas.yaml"
    resources:
        **(requests.of_optimum if requests else {}),
    params:
        code=lambda w: graph.code("optimum", w),
        digest=lambda w: graph.digest("optimum", w),
        spec=lambda w, input: graph.specification("optimum", w, input),
    shell:
        "fedatlas job optimum - {output:q} > {log:q} 2>&1 <<'END'\n{params.spec}\nEND"
