"""Tables, figures and claims of an experiment."""


localrules:
    about,
    table,
    figure,
    claims,


rule about:
    output:
        "results/{size}/{experiment}/about.json",
    log:
        "results/logs/about/{size}/{experiment}.log",
    params:
        about=atlas.about,
    shell:
        "printf %s {params.about:q} > {output:q} 2> {log:q}"


rule table:
    input:
        code=code.files([code.STEPS["table"]]),
        runs=atlas.run_files,
    output:
        table="results/{size}/{experiment}/table.parquet",
        csv="results/{size}/{experiment}/table.csv",
        curves="results/{size}/{experiment}/curves.parquet",
    log:
        "results/logs/table/{size}/{experiment}.log",
    params:
        layout=atlas.layout,
        folder=subpath(output.table, parent=True),
    shell:
        "fedatlas job table {params.layout:q} {params.folder:q} {input.runs:q} > {log:q} 2>&1"


rule figure:
    input:
        unpack(atlas.figure_inputs),
        table="results/{size}/{experiment}/table.parquet",
        curves="results/{size}/{experiment}/curves.parquet",
    output:
        png=report(
            "results/{size}/{experiment}/figures/{figure}.png",
            caption="../report/figure.rst",
            category="{experiment}",
            subcategory="{size}",
            labels={"figure": "{figure}"},
        ),
        svg="results/{size}/{experiment}/figures/{figure}.svg",
    log:
        "results/logs/figure/{size}/{experiment}/{figure}.log",
    params:
        spec=atlas.figure_spec,
        folder=subpath(input.table, parent=True),
        # of the input, so that Snakemake takes it for derived: another caption is no reason to draw again
        caption=lambda w, input: atlas.caption(w),
    shell:
        "fedatlas job figure {params.spec:q} {params.folder:q} {output:q} > {log:q} 2>&1"


rule claims:
    input:
        code=atlas.claims_code,
        table="results/{size}/{experiment}/table.parquet",
        curves="results/{size}/{experiment}/curves.parquet",
    output:
        report(
            "results/{size}/{experiment}/claims.csv",
            caption="../report/claims.rst",
            category="{experiment}",
            subcategory="{size}",
            labels={"figure": "claims"},
        ),
    log:
        "results/logs/claims/{size}/{experiment}.log",
    params:
        spec=atlas.claims_spec,
        folder=subpath(input.table, parent=True),
    shell:
        "fedatlas job claims {params.spec:q} {params.folder:q} {output:q} > {log:q} 2>&1"
