"""Theorem 4.2 of the FedAc paper: accelerated gradient descent from two starts drifts apart."""


rule fedac_thm42:
    """Theorem 4.2 of the FedAc paper: accelerated gradient descent from two starts drifts apart."""
    output:
        png=report(
            f"{results}/paper/fedac_thm42/instability.png",
            caption="../report/instability.rst",
            category="fedac_thm42",
        ),
        svg=f"{results}/paper/fedac_thm42/instability.svg",
        csv=f"{results}/paper/fedac_thm42/instability.csv",
    log:
        f"{results}/logs/instability.log",
    localrule: True
    params:
        code=of("instability").code,
    shell:
        "fedatlas job instability {output:q} > {log:q} 2>&1"
