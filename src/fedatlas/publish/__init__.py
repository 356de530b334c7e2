"""Results for readers: the HTML report, the gallery, MLflow."""
