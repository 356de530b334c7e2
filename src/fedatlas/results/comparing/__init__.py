"""How algorithms compare over problems: costs of targets, profiles, contests, orders, and the intervals of all these.

Pure functions of DataFrames and arrays; figures and checks say the same because both ask here.
"""
