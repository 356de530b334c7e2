"""MLflow and the report."""


localrules:
    track,
    report_tour,
    report_all,
    report_one,
    gallery,


rule track:
    input:
        code=code.files([code.of_job("track")]),
        about="results/{size}/{experiment}/about.json",
        runs=atlas.run_files,
        table="results/{size}/{experiment}/table.parquet",
        csv="results/{size}/{experiment}/table.csv",
        claims="results/{size}/{experiment}/claims.csv",
        figures=lambda w: atlas.figure_files(w.size, w.experiment),
    output:
        "results/{size}/{experiment}/mlflow.json",
    log:
        "results/logs/track/{size}/{experiment}.log",
    params:
        uri=config["mlflow_uri"],
        folder=subpath(input.about, parent=True),
    shell:
        "fedatlas job track {params.folder:q} {params.uri:q} {input.runs:q} > {log:q} 2>&1"


rule report_tour:
    input:
        code=code.files([code.of_job("report")]),
        parts=lambda w: atlas.parts("smoke", config["tour"]),
    output:
        html="results/report.html",
        claims="results/claims.csv",
    log:
        "results/logs/report/tour.log",
    params:
        folders=[atlas.directory("smoke", name) for name in config["tour"]],
    shell:
        "fedatlas job report {output.html:q} {params.folders:q} > {log:q} 2>&1"


rule report_all:
    input:
        code=code.files([code.of_job("report")]),
        parts=lambda w: atlas.parts(w.size, atlas.selected()),
    output:
        html="results/{size}/report.html",
        claims="results/{size}/claims.csv",
    log:
        "results/logs/report/{size}.log",
    params:
        folders=lambda w: [atlas.directory(w.size, name) for name in atlas.selected()],
    shell:
        "fedatlas job report {output.html:q} {params.folders:q} > {log:q} 2>&1"


rule report_one:
    input:
        code=code.files([code.of_job("report")]),
        parts=lambda w: atlas.parts(w.size, [w.experiment]),
    output:
        html="results/{size}/{experiment}/report.html",
    log:
        "results/logs/report/{size}/{experiment}.log",
    params:
        folders=lambda w: [atlas.directory(w.size, w.experiment)],
    shell:
        "fedatlas job report {output.html:q} {params.folders:q} > {log:q} 2>&1"


rule gallery:
    input:
        code=code.files([code.of_job("gallery")]),
        parts=lambda w: [part for size, name in atlas.gallery() for part in atlas.parts(size, [name])],
    output:
        "docs/gallery.md",
    log:
        "results/logs/gallery.log",
    params:
        folders=[atlas.directory(size, name) for size, name in atlas.gallery()],
    shell:
        "fedatlas job gallery {output:q} {params.folders:q} > {log:q} 2>&1"
