"""Reading datasets: one module a source, each a generator of rows (`udfs.sources.base`)."""

from __future__ import annotations

from typing import Final

from udfs.sources import banditqa, couldask, factguard, qa2, sample, squad_v2, table, text_files
from udfs.sources.base import Source

SOURCES: Final[dict[str, Source]] = {
    "sample": sample.read,
    "squad_v2": squad_v2.read,
    "banditqa": banditqa.read,
    "couldask": couldask.read,
    "qa2": qa2.read,
    "factguard": factguard.read,
    "text": text_files.read,
    "table": table.read,
}
"""Every value that `source=` may have."""
