"""Comparison of algorithms over problems: costs of targets, profiles, pairwise comparisons, orders, intervals.

Figures and checks agree because both call these pure functions of DataFrames and arrays.
"""
