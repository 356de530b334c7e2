"""The Python interface: training, the scikit-learn estimator, results as DataFrames, plots."""
