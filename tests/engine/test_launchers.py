"""Processes that a launcher has started know their number and where to meet."""

import socket

import pytest

from fedatlas.errors import UserError
from fedatlas.federation.engine import processes
from fedatlas.federation.engine.launchers import Task, current_task, first_host

STEP = {
    "SLURM_JOB_ID": "4711",
    "SLURM_STEP_ID": "2",
    "SLURM_STEP_NODELIST": "node[003-004]",
    "SLURM_STEP_NUM_TASKS": "4",
    "SLURM_PROCID": "3",
}


def test_the_first_host_of_a_list_of_nodes():
    for nodes, host in {
        "node7": "node7",
        "node[003-010,12]": "node003",
        "a1,a2": "a1",
        "gpu-[1,3],x2": "gpu-1",
        "rack[1-2]node[3-4],b": "rack1node3",
        "cn[12]-ib": "cn12-ib",
    }.items():
        assert first_host(nodes) == host, nodes


def test_a_task_of_srun_is_found_where_the_command_says_so():
    task = current_task(4, STEP)
    assert task and (task.rank, task.count, task.host, task.has_agent) == (3, 4, "node003", False)
    assert current_task(1, STEP) is None  # as of a whole workflow in a job of several tasks


def test_what_srun_has_not_started_is_refused():
    for variables, sentence in (
        ({}, "--tasks is 4, but SLURM_JOB_ID is not set, as it is in tasks of srun: `srun --ntasks=4 fedatlas job"),
        ({**STEP, "SLURM_STEP_NUM_TASKS": "2"}, "--tasks is 4, but srun has started 2: `srun --ntasks=4"),
    ):
        with pytest.raises(UserError) as error:
            current_task(4, variables)
        assert sentence in str(error.value)


def test_a_worker_of_torchrun_is_found_by_its_variables():
    variables = {"RANK": "1", "WORLD_SIZE": "3", "MASTER_ADDR": "host", "MASTER_PORT": "99"}
    assert current_task(1, variables) == Task(1, 3, "host", 99)
    assert current_task(1, variables | {"TORCHELASTIC_USE_AGENT_STORE": "True"}) == Task(1, 3, "host", 99, True)
    assert current_task(1, {}) is None


@pytest.mark.parametrize("rank", [0, 1])
def test_processes_that_cannot_meet_end_with_a_sentence(rank, monkeypatch):
    """Another program listens at the port of the first; the second waits for a first that never comes."""
    monkeypatch.setattr(processes, "START_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        if rank:
            server.close()
        with pytest.raises(UserError, match=f"cannot meet at port {port} of 127.0.0.1"):
            processes._meet(Task(rank, 2, "127.0.0.1", port))
