"""MLflow and the report."""


rule track:
    """The runs of an experiment in MLflow."""
    input:
        parts=lambda w: graph.track_inputs(w.size, [w.experiment]),
    output:
        f"{results}/{{size}}/{{experiment}}/mlflow.json",
    log:
        f"{results}/logs/track/{{size}}/{{experiment}}.log",
    localrule: True
    conda:
        "../envs/fedatlas.yaml"
    params:
        code=lambda w: graph.code("track", w),
        uri=study.config["mlflow_uri"],
        folders=lambda w, input: graph.report_folders(input.parts),
    shell:
        "fedatlas job track {output:q} {params.uri:q} {params.folders:q} > {log:q} 2>&1"


# once for all experiments of the tour, since MLflow takes seconds to load
use rule track as track_tour with:
    input:
        parts=lambda w: graph.track_inputs("smoke", study.tour()),
    output:
        f"{results}/mlflow.json",
    log:
        f"{results}/logs/track/tour.log",
    localrule: True  # `use` leaves it out


rule report_one:
    """The report of one experiment."""
    input:
        gallery=lambda w: [*map(local, summary.gallery_files(w.size, [w.experiment]))],
        parts=lambda w: graph.report_inputs(w.size, [w.experiment]),
    output:
        html=f"{results}/{{size}}/{{experiment}}/report.html",
    log:
        f"{results}/logs/report/{{size}}/{{experiment}}.log",
    localrule: True
    conda:
        "../envs/fedatlas.yaml"
    params:
        code=lambda w: graph.code("report", w),
        study=study.config["title"],
        folders=lambda w, input: graph.report_folders(input.parts),
    shell:
        "fedatlas job report {output.html:q} {params.folders:q} --study {params.study:q} --gallery {input.gallery:q} > {log:q} 2>&1"


# the experiments that config.yaml selects
use rule report_one as report_all with:
    input:
        gallery=lambda w: [*map(local, summary.gallery_files(w.size, study.selected()))],
        parts=lambda w: graph.report_inputs(w.size, study.selected()),
    output:
        html=f"{results}/{{size}}/report.html",
        claims=f"{results}/{{size}}/claims.csv",
    log:
        f"{results}/logs/report/{{size}}.log",
    localrule: True  # `use` leaves it out


use rule report_one as report_tour with:
    input:
        gallery=lambda w: [*map(local, summary.gallery_files("smoke", study.tour()))],
        parts=lambda w: graph.report_inputs("smoke", study.tour()),
    output:
        html=f"{results}/report.html",
        claims=f"{results}/claims.csv",
    log:
        f"{results}/logs/report/tour.log",
    localrule: True  # `use` leaves it out
