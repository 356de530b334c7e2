"""Results for readers: the HTML report, the gallery, files for TeX, MLflow."""
