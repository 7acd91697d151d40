"""Prompts: files in two languages, and the messages made of them."""

from udfs.prompts.library import LAYOUTS
from udfs.prompts.render import LANGUAGES, METHODS, build_answer, build_reformulate, require, template_hash

__all__ = ["LANGUAGES", "LAYOUTS", "METHODS", "build_answer", "build_reformulate", "require", "template_hash"]
