"""A plan's blocks come out of Ray Data as they went in, each by itself and no larger than it is."""

from __future__ import annotations

import pyarrow as pa
import pytest
import ray
from ray.experimental.locations import get_local_object_locations

from jobs.support.plan_source import Plan
from jobs.support.transport import tables_as_ipc

pytestmark = pytest.mark.usefixtures("ray_cluster")
TABLE = pa.table({"n": list(range(1000)), "items": [[{"question": "?" * 1000}]] * 1000})
BLOCKS = [TABLE.slice(start, 10) for start in range(0, 1000, 10)]


LARGE = pa.table({"text": ["?" * 2**20] * 3})


class Whole:
    """Says how many rows came at once."""

    def __call__(self, batch: pa.Table) -> pa.Table:
        return batch.append_column("rows", pa.array([batch.num_rows] * batch.num_rows))


def test_every_block_is_read_once_and_whole() -> None:
    tables_as_ipc()
    dataset = ray.data.read_datasource(Plan(BLOCKS), override_num_blocks=len(BLOCKS), num_cpus=1)
    mapped = dataset.map_batches(
        Whole, batch_format="pyarrow", batch_size=None, compute=ray.data.ActorPoolStrategy(size=1), num_cpus=1
    )
    rows = [row for batch in mapped.iter_batches(batch_size=None, batch_format="pyarrow") for row in batch.to_pylist()]
    assert sorted(row["n"] for row in rows) == list(range(1000))
    assert {row["rows"] for row in rows} == {10}
    assert {len(row["items"][0]["question"]) for row in rows} == {1000}


def test_task_of_a_block_carries_no_other_block() -> None:
    tables_as_ipc()
    reference = ray.put(Plan(BLOCKS).get_read_tasks(1)[0])
    assert get_local_object_locations([reference])[reference]["object_size"] < 3 * 10 * 1000


def test_block_of_more_than_a_megabyte_is_read_too() -> None:
    tables_as_ipc()
    with pytest.warns(UserWarning, match="plan_block"):  # jobs do not show it
        dataset = ray.data.read_datasource(Plan([LARGE]), override_num_blocks=1, num_cpus=1).materialize()
    assert dataset.count() == 3
