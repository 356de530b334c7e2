from fedatlas.federation.metrics import Metric

MAX_NORM = Metric(
    name="max_norm",
    words="largest parameter",
    symbol=r"$|x|_\infty$",
    scale="log",
    compute=lambda problem, x: float(abs(x).max()),  # x: the output (d,), of NumPy or torch
)
