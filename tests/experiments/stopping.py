"""A cell that is stopped again and again."""

import threading

import pandas as pd

from fedatlas.experiments import result_files, run
from fedatlas.experiments.run import run_cell
from fedatlas.federation.engine.checkpoint import Stopped


def assert_same_bits_in_pieces(spec, folder, monkeypatch, runs):
    """Assert that a cell that stops after each so many runs, and goes on, ends with the searches and bits of one go."""
    run_cell(spec, folder / "whole.parquet")
    monkeypatch.setattr(run, "SAVE_SECONDS", -1)
    stop, stops = threading.Event(), 0

    def progress(done, total):
        if done % runs == 0:
            stop.set()

    while True:
        try:
            run_cell(spec, folder / "pieces.parquet", progress=progress, stop=stop)
            break
        except Stopped:
            stops += 1
            stop.clear()
    reference, pieces = (result_files.read(folder / f"{name}.parquet") for name in ("whole", "pieces"))
    assert stops > 2 and reference[1]["searches"] == pieces[1]["searches"]
    pd.testing.assert_frame_equal(
        *(frame.drop(columns="seconds") for frame, _ in (reference, pieces)), check_exact=True
    )
