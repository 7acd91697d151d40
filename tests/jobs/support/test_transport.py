"""Tables as they travel between a job's processes."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from jobs.support.transport import packed, unpacked
from tests.factories import make_document, make_question, make_response
from udfs.stages.results import RESULTS, Tally, result_row

BLOCK = pa.table({"bundle_id": ["a", "b", "c"], "text": pa.array(["x" * 50_000] * 3, pa.large_string())})


def results() -> pa.Table:
    question = make_question(make_document())
    return pa.Table.from_pylist([result_row("b", "d", [make_response(question)], [], Tally(16))], schema=RESULTS)


@pytest.mark.parametrize(
    "table", [BLOCK, BLOCK.slice(1, 1), BLOCK.slice(0, 0), results(), pa.concat_tables([BLOCK, BLOCK.slice(2)])]
)
def test_transport_table_comes_back_as_it_was(table: pa.Table) -> None:
    assert unpacked(packed(table)).equals(table)
    assert unpacked(packed(table)).schema.equals(table.schema, check_metadata=True)


def test_transport_of_a_slice_holds_only_the_slice() -> None:
    assert packed(BLOCK.slice(1, 1)).size < BLOCK.nbytes / 2


def test_transport_stream_travels_outside_of_the_pickle() -> None:
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(packed(BLOCK), protocol=5, buffer_callback=buffers.append)
    assert len(pickled) < 1000
    assert unpacked(pickle.loads(pickled, buffers=buffers)).equals(BLOCK)
