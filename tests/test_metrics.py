"""Metrics: one record for each, and the words, scales and goals that come from it."""

import pytest

from fedatlas.experiments import labels
from fedatlas.experiments.cells import Select
from fedatlas.experiments.scores import goal
from fedatlas.federation.metrics import METRICS, Metric, metric


def test_there_are_these_metrics():
    reported = {
        "accuracy",
        "distance",
        "gradient_norm",
        "loss",
        "output",
        "suboptimality",
        "test_accuracy",
        "test_loss",
    }
    assert reported <= set(METRICS.names())


@pytest.mark.parametrize("name", METRICS.names())
def test_a_record_is_complete(name):
    record = metric(name)
    module = "polyak_step_sizes" if name.startswith("sps_") else name  # three means of the same step sizes
    assert record.name == name and record.words and METRICS.module(name) == f"fedatlas.federation.metrics.{module}"
    assert labels.quantity(name).startswith(record.words) and labels.words(name) == record.words
    assert not record.symbol or (record.symbol[0] == record.symbol[-1] == "$")


@pytest.mark.parametrize("name", METRICS.names())
def test_accuracies_are_shares_of_which_much_is_good(name):
    record = metric(name)
    assert record.larger_is_better == record.percent == name.endswith("accuracy")
    assert (record.scale == "log") == (name in ("distance", "gradient_norm", "suboptimality"))


def test_a_name_without_a_record_is_a_plain_number():
    assert metric("step_size_mean") == Metric(name="step_size_mean", words="step size mean")
    assert metric("step_size_mean").goal == "min" and metric("step_size_mean").scale == "linear"


def test_words():
    assert labels.quantity("suboptimality", "best") == r"best suboptimality $F(x) - F^\ast$"
    assert labels.words("seconds") == labels.column_heading("seconds") == "training time (s)"
    assert [labels.column_heading(name) for name in ("accuracy", "test_accuracy", "loss")] == [
        "training",
        "test",
        "training loss",
    ]


def test_the_experiment_decides_about_the_metric_that_selects():
    select = Select(metric="test_accuracy", statistic="best", goal="min")
    assert goal("test_accuracy", select) == "min"
    assert goal("accuracy", select) == "max" and goal("loss", select) == "min"
