"""Whether a command's storage can be used: said before anything starts, once for all jobs of a sweep."""

from __future__ import annotations

import os
from typing import Any

from udfs.errors import UserError
from udfs.tables.object_storage import check_reachable

SUBMITTED_VARIABLE = "RAY_JOB_CONFIG_JSON_ENV_VAR"
"""Set by Ray for the driver of a job that was submitted (`ray job submit`, RayJob)."""


class Reached:
    """Storage roots that were looked at, and what was found."""

    def __init__(self) -> None:
        self._said: dict[str, str | None] = {}

    def check(self, config: Any) -> None:
        """Raise `UserError` where the `storage.root` of a job's config cannot be used."""
        root = getattr(getattr(config, "storage", None), "root", None)
        if root is None:
            return
        if root not in self._said:
            self._said[root] = self._look(root)
        said = self._said[root]
        if said is not None:
            raise UserError(said)

    @staticmethod
    def _look(root: str) -> str | None:
        try:
            refuse_temporary(root, "storage.root")
            check_reachable(root, "storage.root")
        except UserError as error:
            return str(error)
        return None


def refuse_temporary(address: str, key: str) -> None:
    """Raise `UserError` where a submitted job would write relative to its own folder, which Ray deletes afterwards."""
    if os.environ.get(SUBMITTED_VARIABLE) and "://" not in address and not os.path.isabs(address):
        raise UserError(
            f"{key}={address!r} is relative: a submitted job runs in a temporary folder, and what it wrote there would "
            f"be lost; give an address such as {key}=s3://bucket/prefix, or the absolute path of a shared folder"
        )
