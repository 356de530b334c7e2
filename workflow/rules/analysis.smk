"""Tables, figures and claims of an experiment.

Snakemake reruns a job whose parameters have changed, and prints both values. A parameter that is a function of the
output is left out of this comparison; where a specification is long, its digest is compared instead.
"""


rule about:
    """What report and MLflow tell of an experiment besides its numbers."""
    output:
        f"{results}/{{size}}/{{experiment}}/about.json",
    log:
        f"{results}/logs/about/{{size}}/{{experiment}}.log",
    localrule: True
    conda:
        "../envs/fedatlas.yaml"
    params:
        digest=lambda w: digest(atlas.about(w)),
        about=lambda w, output: atlas.about(w),
    shell:
        "printf %s {params.about:q} > {output:q} 2> {log:q}"


rule table:
    """The table of an experiment, its curves and trials."""
    input:
        code=atlas.table_code,
        runs=atlas.run_files,
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
        layout=atlas.layout,
        folder=subpath(output.table, parent=True),
    shell:
        "fedatlas job table {params.layout:q} {params.folder:q} {input.runs:q} > {log:q} 2>&1"


rule figure:
    """A figure of an experiment, as PNG and SVG."""
    input:
        unpack(atlas.figure_inputs),
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
        digest=lambda w: digest(atlas.figure_spec(w)),
        spec=lambda w, output: atlas.figure_spec(w),
        folder=subpath(output.png, ancestor=2),
        caption=lambda w, output: atlas.caption(w),
    shell:
        "fedatlas job figure {params.spec:q} {params.folder:q} {output:q} > {log:q} 2>&1"


rule claims:
    """The verdicts on the claims of an experiment."""
    input:
        unpack(atlas.claims_inputs),
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
        digest=lambda w: digest(atlas.claims_spec(w)),
        spec=lambda w, output: atlas.claims_spec(w),
        folder=subpath(input.table, parent=True),
    shell:
        "fedatlas job claims {params.spec:q} {params.folder:q} {output:q} > {log:q} 2>&1"
