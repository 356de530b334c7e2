"""MLflow and the report."""


localrules:
    track,
    report_tour,
    report_all,
    report_one,


rule track:
    input:
        code=atlas.code("track"),
        runs=lambda w: atlas.run_files(w.size, w.experiment),
        table="results/{size}/{experiment}/table.parquet",
        claims="results/{size}/{experiment}/claims.csv",
        figures=lambda w: atlas.figure_files(w.size, w.experiment),
    output:
        "results/{size}/{experiment}/mlflow.json",
    log:
        "results/logs/track/{size}/{experiment}.log",
    params:
        uri=config["mlflow_uri"],
    shell:
        "fedatlas job track {wildcards.experiment} --size {wildcards.size} --uri {params.uri:q} > {log:q} 2>&1"


rule report_tour:
    input:
        lambda w: atlas.target("smoke", config["tour"]),
        code=atlas.code("report"),
    output:
        html="results/report.html",
        claims="results/claims.csv",
    log:
        "results/logs/report/tour.log",
    params:
        names=" ".join(config["tour"]),
    shell:
        "fedatlas job report {params.names} --size smoke --out {output.html:q} > {log:q} 2>&1"


rule report_all:
    input:
        lambda w: atlas.target(w.size, atlas.selected()),
        code=atlas.code("report"),
    output:
        html="results/{size}/report.html",
        claims="results/{size}/claims.csv",
    log:
        "results/logs/report/{size}.log",
    params:
        names=" ".join(atlas.selected()),
    shell:
        "fedatlas job report {params.names} --size {wildcards.size} --out {output.html:q} > {log:q} 2>&1"


rule report_one:
    input:
        lambda w: atlas.target(w.size, [w.experiment]),
        code=atlas.code("report"),
    output:
        html="results/{size}/{experiment}/report.html",
    log:
        "results/logs/report/{size}/{experiment}.log",
    shell:
        "fedatlas job report {wildcards.experiment} --size {wildcards.size} --out {output.html:q} > {log:q} 2>&1"
