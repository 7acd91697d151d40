"""Where a review's files are: `reviews/<name>/` under the storage root, on disk or object storage."""

from __future__ import annotations

from udfs.tables.store import Store


class ReviewFolder:
    """Reads and writes UTF-8 files of one review."""

    def __init__(self, store: Store, review: str) -> None:
        self._store = store
        self._parts = ("reviews", review)

    def address(self, name: str) -> str:
        return self._store.address(*self._parts, name)

    def read(self, name: str) -> str | None:
        """The file's text, or None where there is none."""
        content = self._store.read_bytes(*self._parts, name)
        return None if content is None else content.decode("utf-8")

    def write(self, name: str, content: str) -> str:
        """Write one file whole; give its address."""
        return self._store.write_bytes(content.encode("utf-8"), *self._parts, name)
