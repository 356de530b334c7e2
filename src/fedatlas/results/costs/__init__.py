"""Simulated seconds of runs, and the options of figures and checks that name costs."""
