"""Prompt files: where they lie, what they say, and the hash of what they say.

One folder a language. In it a folder a method (`answer.j2` and `reformulate.j2`: the instructions of the two turns;
with `example_answer.j2` and `example_reformulate.j2` the method is few-shot), one template a turn and layout, the
document's framing, and the examples. A method is added by dropping such a folder into every language. Its
`reformulate.j2` may name what `udfs.prompts.facts` finds in the question and the document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template, meta

from udfs.errors import UserError
from udfs.identity import content_hash
from udfs.prompts.facts import FACTS, FACTS_VERSION

ROOT: Final = Path(__file__).parent
LAYOUTS: Final = ("document_first", "paper")
VERSION: Final = 1
"""Raise it when code changes what a dialogue's messages are while no file changes: it is part of every hash."""

Example = Mapping[str, Any]
"""One few-shot example: number, document, question, reasoning, answer; and edit_reasoning, new_question for turn 2."""


class PromptLibrary:
    """The prompt files under one root folder, read once."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self._environments = {
            folder.name: Environment(
                loader=FileSystemLoader(folder),
                undefined=StrictUndefined,
                autoescape=False,
                trim_blocks=True,
                lstrip_blocks=True,
            )
            for folder in sorted(root.iterdir())
            if (folder / "document.j2").is_file()
        }

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(self._environments)

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """Methods that every language has, zero-shot ones first."""
        found = [
            {folder.name for folder in (self.root / language).iterdir() if (folder / "answer.j2").is_file()}
            for language in self.languages
        ]
        common = set.intersection(*found) if found else set()
        return tuple(sorted(common, key=lambda name: (self.is_few_shot(name, self.languages[0]), name)))

    def require(self, method: str, layout: str, language: str) -> None:
        """Raise `UserError` unless all three names are known."""
        for what, given, allowed in (
            ("method", method, self.methods),
            ("layout", layout, LAYOUTS),
            ("language", language, self.languages),
        ):
            if given not in allowed:
                raise UserError(f"unknown {what} {given!r}; allowed: {', '.join(allowed)}")

    def is_few_shot(self, method: str, language: str) -> bool:
        return (self.root / language / method / "example_answer.j2").is_file()

    @lru_cache  # noqa: B019 - a library lives as long as its process
    def _template(self, language: str, name: str) -> Template:
        return self._environments[language].get_template(name)

    def render(self, language: str, name: str, **values: Any) -> str:
        """Render one file. Values are inserted verbatim: what they contain is never read as a template."""
        return self._template(language, name).render(**values)

    @lru_cache  # noqa: B019
    def examples(self, method: str, language: str) -> tuple[Example, ...]:
        """The method's examples, numbered from 1 (turn 2 refers to turn 1's numbers); none if it is zero-shot."""
        if not self.is_few_shot(method, language):
            return ()
        text = (self.root / language / self._examples_file(method, language)).read_text(encoding="utf-8")
        return tuple({"number": number, **row} for number, row in enumerate(yaml.safe_load(text), start=1))

    def _examples_file(self, method: str, language: str) -> str:
        own = f"{method}/examples.yaml"
        return own if (self.root / language / own).is_file() else "examples.yaml"

    @lru_cache  # noqa: B019
    def dialogue_hash(self, method: str, layout: str, language: str) -> str:
        """Hash over everything that a dialogue of this method can say."""
        self.require(method, layout, language)
        files = [f"{turn}.{layout}.j2" for turn in ("answer", "reformulate")]
        files += ["document.j2", f"{method}/answer.j2", f"{method}/reformulate.j2"]
        if self.is_few_shot(method, language):
            files += [f"{method}/example_answer.j2", f"{method}/example_reformulate.j2"]
            files.append(self._examples_file(method, language))
        facts = self.facts(method, language)
        found_by = [FACTS_VERSION, list(facts)] if facts else []
        return content_hash("dialogue", method, layout, language, self.files_hash(language, files), *found_by)

    @lru_cache  # noqa: B019
    def facts(self, method: str, language: str) -> tuple[str, ...]:
        """What the method's turn 2 wants to be told of the question and the document (`udfs.prompts.facts.FACTS`)."""
        environment = self._environments[language]
        texts = self._contents(language, f"{method}/reformulate.j2").values()
        named = {name for text in texts for name in meta.find_undeclared_variables(environment.parse(text))}
        return tuple(name for name in FACTS if name in named)

    @lru_cache  # noqa: B019
    def _contents(self, language: str, name: str) -> dict[str, str]:
        """The file's text and that of every file it includes."""
        text = (self.root / language / name).read_text(encoding="utf-8")
        contents = {name: text}
        if name.endswith(".j2"):
            for included in meta.find_referenced_templates(self._environments[language].parse(text)):
                if included is None:
                    raise ValueError(f"{language}/{name} includes a file by a computed name: its hash would not see it")
                contents |= self._contents(language, included)
        return contents

    def files_hash(self, language: str, names: Sequence[str]) -> str:
        """Hash over the named files and all that they include."""
        contents: dict[str, str] = {}
        for name in names:
            contents |= self._contents(language, name)
        return content_hash("prompts", VERSION, language, contents)

    def document_block(self, language: str, document: str) -> str:
        """The document in its frame, which every prompt that shows the document starts with.

        The opening depends on the language alone, so views of one document share their prefix up to the first
        redaction. The closing line stands nowhere in the document: where the plain one does, it is marked with a hash
        of the document, which no document can hold.
        """
        closing = self.render(language, "document.j2", document="", mark="").splitlines()[-1]
        words = closing.strip("[]【】").casefold()
        mark = f" {content_hash('document_end', document)[:12]}" if words in document.casefold() else ""
        return self.render(language, "document.j2", document=document, mark=mark)


@lru_cache
def library() -> PromptLibrary:
    """The prompts that the project ships."""
    return PromptLibrary()
