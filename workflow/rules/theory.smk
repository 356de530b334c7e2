"""Theorem 4.2 of the FedAc paper: accelerated gradient descent from two starts drifts apart."""


localrules:
    fedac_thm42,


rule fedac_thm42:
    input:
        code=code.files(code.of_instability()),
    output:
        png=report(
            "results/paper/fedac_thm42/instability.png",
            caption="../report/instability.rst",
            category="fedac_thm42",
        ),
        svg="results/paper/fedac_thm42/instability.svg",
        csv="results/paper/fedac_thm42/instability.csv",
    log:
        "results/logs/instability.log",
    shell:
        "fedatlas job instability {output:q} > {log:q} 2>&1"
