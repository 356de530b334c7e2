"""Tables, figures and claims of an experiment."""


localrules:
    table,
    figure,
    claims,


rule table:
    input:
        code=atlas.code("table"),
        runs=lambda w: atlas.run_files(w.size, w.experiment),
    output:
        table="results/{size}/{experiment}/table.parquet",
        csv="results/{size}/{experiment}/table.csv",
        curves="results/{size}/{experiment}/curves.parquet",
    log:
        "results/logs/table/{size}/{experiment}.log",
    params:
        view=atlas.view,
    shell:
        "fedatlas job table {wildcards.experiment} --size {wildcards.size} > {log:q} 2>&1"


rule figure:
    input:
        code=atlas.code("figure"),
        table="results/{size}/{experiment}/table.parquet",
        curves="results/{size}/{experiment}/curves.parquet",
        partitions=lambda w: atlas.partitions_of(w.size, w.experiment),
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
        spec=lambda w: atlas.part(w, "figures", w.figure),
        caption=lambda w: atlas.experiment(w.size, w.experiment)["figures"][w.figure]["caption"],
    shell:
        "fedatlas job figure {wildcards.experiment} {wildcards.figure} --size {wildcards.size}" " > {log:q} 2>&1"


rule claims:
    input:
        code=atlas.code("claims"),
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
        claims=lambda w: atlas.part(w, "claims"),
    shell:
        "fedatlas job claims {wildcards.experiment} --size {wildcards.size} > {log:q} 2>&1"
