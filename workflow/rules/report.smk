"""MLflow and the report."""


rule track:
    """The runs of an experiment in MLflow."""
    input:
        about=f"{results}/{{size}}/{{experiment}}/about.json",
        runs=graph.run_files,
        table=f"{results}/{{size}}/{{experiment}}/table.parquet",
        csv=f"{results}/{{size}}/{{experiment}}/table.csv",
        claims=f"{results}/{{size}}/{{experiment}}/claims.csv",
        figures=lambda w: graph.figure_files(w.size, w.experiment),
        report=f"{results}/{{size}}/{{experiment}}/report.html",
    output:
        f"{results}/{{size}}/{{experiment}}/mlflow.json",
    log:
        f"{results}/logs/track/{{size}}/{{experiment}}.log",
    localrule: True
    params:
        code=dependencies.fingerprints([dependencies.of_job("track")]),
        uri=study.config["mlflow_uri"],
        folder=subpath(input.about, parent=True),
    shell:
        "fedatlas job track {params.folder:q} {params.uri:q} {input.runs:q} > {log:q} 2>&1"


rule report_tour:
    """The report over the experiments of the tour."""
    input:
        verdicts=graph.gallery_verdicts(),
        parts=lambda w: graph.report_inputs("smoke", study.tour()),
    output:
        html=f"{results}/report.html",
        claims=f"{results}/claims.csv",
    log:
        f"{results}/logs/report/tour.log",
    localrule: True
    params:
        code=dependencies.fingerprints([dependencies.of_job("report")]),
        study=study.config["title"],
        folders=lambda w, input: graph.report_folders(input.parts),
    shell:
        "fedatlas job report {output.html:q} {params.folders:q} --study {params.study:q} --verdicts {input.verdicts:q} > {log:q} 2>&1"


rule report_all:
    """The report over the experiments that config.yaml selects."""
    input:
        verdicts=graph.gallery_verdicts(),
        parts=lambda w: graph.report_inputs(w.size, study.selected()),
    output:
        html=f"{results}/{{size}}/report.html",
        claims=f"{results}/{{size}}/claims.csv",
    log:
        f"{results}/logs/report/{{size}}.log",
    localrule: True
    params:
        code=dependencies.fingerprints([dependencies.of_job("report")]),
        study=study.config["title"],
        folders=lambda w, input: graph.report_folders(input.parts),
    shell:
        "fedatlas job report {output.html:q} {params.folders:q} --study {params.study:q} --verdicts {input.verdicts:q} > {log:q} 2>&1"


rule report_one:
    """The report of one experiment."""
    input:
        verdicts=graph.gallery_verdicts(),
        parts=lambda w: graph.report_inputs(w.size, [w.experiment]),
    output:
        html=f"{results}/{{size}}/{{experiment}}/report.html",
    log:
        f"{results}/logs/report/{{size}}/{{experiment}}.log",
    localrule: True
    params:
        code=dependencies.fingerprints([dependencies.of_job("report")]),
        study=study.config["title"],
        folders=lambda w, input: graph.report_folders(input.parts),
    shell:
        "fedatlas job report {output.html:q} {params.folders:q} --study {params.study:q} --verdicts {input.verdicts:q} > {log:q} 2>&1"
