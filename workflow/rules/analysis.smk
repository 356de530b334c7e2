"""Tables, figures and claims of an experiment."""


rule about:
    """The words of report and MLflow on an experiment."""
    input:
        spec=lambda w: ancient(graph.specification("about", w)),
    output:
        f"{results}/{{size}}/{{experiment}}/about.json",
    log:
        f"{results}/logs/about/{{size}}/{{experiment}}.log",
    localrule: True
    conda:
        "../envs/fedatlas.yaml"
    params:
        digest=lambda w: graph.digest("about", w),
    shell:
        "cp {input.spec:q} {output:q} 2> {log:q}"


rule table:
    """The table of an experiment, its curves and trials."""
    input:
        code=graph.table_code,
        spec=lambda w: ancient(graph.specification("table", w)),
        runs=graph.run_files,
    output:
        table=f"{results}/{{size}}/{{experiment}}/table.parquet",
        csv=f"{results}/{{size}}/{{experiment}}/table.csv",
        curves=f"{results}/{{size}}/{{experiment}}/curves.parquet",
        trials=f"{results}/{{size}}/{{experiment}}/trials.parquet",
    log:
        f"{results}/logs/table/{{size}}/{{experiment}}.log",
    localrule: True
    conda:
        "../envs/fedatlas.yaml"
    params:
        digest=lambda w: graph.digest("table", w),
        folder=subpath(output.table, parent=True),
    shell:
        "fedatlas job table {input.spec:q} {params.folder:q} {input.runs:q} > {log:q} 2>&1"


rule figure:
    """A figure of an experiment, as PNG and SVG."""
    input:
        unpack(graph.figure_inputs),
        spec=lambda w: ancient(graph.specification("figure", w)),
    output:
        png=report(
            f"{results}/{{size}}/{{experiment}}/figures/{{figure}}.png",
            caption="../report/figure.rst",
            category="{experiment}",
            subcategory="{size}",
            labels={"figure": "{figure}"},
        ),
        svg=f"{results}/{{size}}/{{experiment}}/figures/{{figure}}.svg",
        pdf=f"{results}/{{size}}/{{experiment}}/figures/{{figure}}.pdf",
    log:
        f"{results}/logs/figure/{{size}}/{{experiment}}/{{figure}}.log",
    localrule: True
    conda:
        "../envs/fedatlas.yaml"
    params:
        digest=lambda w: graph.digest("figure", w),
        folder=subpath(output.png, ancestor=2),
        # a function of the output is not compared: a caption is no reason to draw again
        caption=lambda w, output: graph.caption(w),
    shell:
        "fedatlas job figure {input.spec:q} {params.folder:q} {output:q} > {log:q} 2>&1"


checkpoint look:
    """The claims that a number of seeds leaves undecided, whose run files get more seeds."""
    input:
        unpack(graph.look_inputs),
        spec=lambda w: ancient(graph.specification("look", w)),
    output:
        f"{results}/{{size}}/{{experiment}}/looks/{{seeds}}.json",
    log:
        f"{results}/logs/look/{{size}}/{{experiment}}/{{seeds}}.log",
    localrule: True
    conda:
        "../envs/fedatlas.yaml"
    params:
        digest=lambda w: graph.digest("look", w),
        folder=subpath(output[0], ancestor=2),
    shell:
        "fedatlas job look {input.spec:q} {params.folder:q} {output:q} {input.runs:q} > {log:q} 2>&1"


rule claims:
    """The verdicts on the claims of an experiment."""
    input:
        unpack(graph.claims_inputs),
        spec=lambda w: ancient(graph.specification("claims", w)),
    output:
        report(
            f"{results}/{{size}}/{{experiment}}/claims.csv",
            caption="../report/claims.rst",
            category="{experiment}",
            subcategory="{size}",
            labels={"figure": "claims"},
        ),
    log:
        f"{results}/logs/claims/{{size}}/{{experiment}}.log",
    localrule: True
    conda:
        "../envs/fedatlas.yaml"
    params:
        digest=lambda w: graph.digest("claims", w),
        folder=subpath(output[0], parent=True),
    shell:
        "fedatlas job claims {input.spec:q} {params.folder:q} {output:q} > {log:q} 2>&1"
