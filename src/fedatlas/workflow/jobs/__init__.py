"""The jobs of the workflow: a module for each rule, whose ``make`` makes the files of the rule.

A job uses nothing but the rule's inputs and parameters, which are the arguments of ``make``. Its module is the code of
the rule, beside the kinds that its specification names.

A job of several files writes last the one that its rule names first, which other rules ask for. Where that file is
there, all are: Snakemake would not make again a file that no rule asks for.
"""
