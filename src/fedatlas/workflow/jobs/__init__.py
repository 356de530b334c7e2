"""The jobs of the workflow: a module for each rule, whose ``make`` makes the files of the rule.

A job uses nothing but the rule's inputs and parameters, which are the arguments of ``make``. Its module is the code of
the rule, beside the kinds that its specification names.

A job of several files writes the first output of its rule last, since other rules ask for that one. If it exists, all
files do: Snakemake would not make a file again that no rule asks for.
"""
