"""Errors that are for people: what was wrong, where, what is allowed, what to do."""

from __future__ import annotations


class UserError(Exception):
    """Something that whoever started the job can mend. Jobs print its text as one line and exit with 2."""


class RunFailed(Exception):
    """The job itself failed after it began work. Jobs print its text as one last line and exit with 1."""
