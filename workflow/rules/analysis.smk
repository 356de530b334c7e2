"""Tables, figures and claims of an experiment."""


rule about:
    """The words of report and MLflow on an experiment."""
    output:
        f"{results}/{{size}}/{{experiment}}/about.json",
    log:
        f"{results}/logs/about/{{size}}/{{experiment}}.log",
    localrule: True
    conda:
        "../envs/fedatlas.yaml"
    params:
        digest=lambda w: graph.digest("about", w),
        spec=lambda w, input: graph.specification("about", w, input),
    shell:
        "cat > {output:q} 2> {log:q} <<'END'\n{params.spec}\nEND"


rule table:
    """The table of an experiment, its curves and trials."""
    input:
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
        code=lambda w: graph.code("table", w),
        digest=lambda w: graph.digest("table", w),
        spec=lambda w, input: graph.specification("table", w, input),
        folder=subpath(output.table, parent=True),
    shell:
        "fedatlas job table - {params.folder:q} {input.runs:q} > {log:q} 2>&1 <<'END'\n{params.spec}\nEND"


rule figure:
    """A figure of an experiment, as PNG, SVG and PDF, with its numbers and its description."""
    input:
        unpack(graph.figure_inputs),
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
        numbers=f"{results}/{{size}}/{{experiment}}/figures/{{figure}}.csv",
        chart=f"{results}/{{size}}/{{experiment}}/figures/{{figure}}.json",
    log:
        f"{results}/logs/figure/{{size}}/{{experiment}}/{{figure}}.log",
    localrule: True
    conda:
        "../envs/fedatlas.yaml"
    params:
        code=lambda w: graph.code("figure", w),
        digest=lambda w: graph.digest("figure", w),
        spec=lambda w, input: graph.specification("figure", w, input),
        folder=subpath(output.png, ancestor=2),
        # a function of the output is not compared: a caption is no reason to draw again
        caption=lambda w, output: study.experiment(w.size, w.experiment).figures[w.figure]["caption"],
    shell:
        "fedatlas job figure - {params.folder:q} {output.png:q} {output.svg:q} {output.pdf:q}"
        " > {log:q} 2>&1 <<'END'\n{params.spec}\nEND"


rule figure_table:
    """A table among the figures of an experiment, as a page, with its numbers and its description."""
    input:
        unpack(graph.figure_inputs),
    output:
        html=report(
            f"{results}/{{size}}/{{experiment}}/tables/{{figure}}.html",
            caption="../report/figure.rst",
            category="{experiment}",
            subcategory="{size}",
            labels={"figure": "{figure}"},
        ),
        numbers=f"{results}/{{size}}/{{experiment}}/tables/{{figure}}.csv",
        chart=f"{results}/{{size}}/{{experiment}}/tables/{{figure}}.json",
    log:
        f"{results}/logs/figure/{{size}}/{{experiment}}/{{figure}}.log",
    localrule: True
    conda:
        "../envs/fedatlas.yaml"
    params:
        code=lambda w: graph.code("figure_table", w),
        digest=lambda w: graph.digest("figure_table", w),
        spec=lambda w, input: graph.specification("figure_table", w, input),
        folder=subpath(output.html, ancestor=2),
        caption=lambda w, output: study.experiment(w.size, w.experiment).figures[w.figure]["caption"],
    shell:
        "fedatlas job figure_table - {params.folder:q} {output.html:q} > {log:q} 2>&1 <<'END'\n{params.spec}\nEND"


checkpoint interim_analysis:
    """The claims that a number of seeds leaves undecided, whose run files get more seeds."""
    input:
        unpack(graph.interim_analysis_inputs),
    output:
        f"{results}/{{size}}/{{experiment}}/interim/{{seeds}}.json",
    log:
        f"{results}/logs/interim_analysis/{{size}}/{{experiment}}/{{seeds}}.log",
    localrule: True
    conda:
        "../envs/fedatlas.yaml"
    params:
        code=lambda w: graph.code("interim_analysis", w),
        digest=lambda w: graph.digest("interim_analysis", w),
        spec=lambda w, input: graph.specification("interim_analysis", w, input),
        folder=subpath(output[0], ancestor=2),
    shell:
        "fedatlas job interim_analysis - {params.folder:q} {output:q} {input.runs:q} > {log:q} 2>&1 <<'END'\n{params.spec}\nEND"


rule claims:
    """The verdicts on the claims of an experiment."""
    input:
        unpack(graph.check_inputs),
        table=f"{results}/{{size}}/{{experiment}}/table.parquet",
        curves=f"{results}/{{size}}/{{experiment}}/curves.parquet",
        trials=f"{results}/{{size}}/{{experiment}}/trials.parquet",
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
        code=lambda w: graph.code("claims", w),
        digest=lambda w: graph.digest("claims", w),
        spec=lambda w, input: graph.specification("claims", w, input),
        folder=subpath(output[0], parent=True),
    shell:
        "fedatlas job claims - {params.folder:q} {output:q} > {log:q} 2>&1 <<'END'\n{params.spec}\nEND"
