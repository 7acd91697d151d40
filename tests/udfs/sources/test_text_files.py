from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.udfs.sources.helpers import BRIDGE, MILL, real_data, take
from udfs.errors import UserError


def test_text_folder_gives_one_document_a_file_with_its_newlines(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.txt").write_bytes(f"\ufeff{BRIDGE}\r\n\rEnd".encode())
    (tmp_path / "deep" / "b.md.gz").write_bytes(gzip.compress(MILL.encode()))
    (tmp_path / "c.pdf").write_bytes(b"%PDF")
    taken = take("text", tmp_path)
    assert [document.text for document in taken.documents] == [f"\ufeff{BRIDGE}\r\n\rEnd", MILL]
    assert [(document.title, document.source) for document in taken.documents] == [("a", "a.txt"), ("b", "b.md.gz")]
    assert taken.questions == []


def test_text_glob_takes_what_matches(tmp_path: Path) -> None:
    for name, text in {"x_law_1.txt": BRIDGE, "x_book_2.txt": MILL, "y.txt": "Other text here."}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    taken = take("text", f"{tmp_path}/x_*.txt")
    assert [(document.title, document.domain) for document in taken.documents] == [
        ("x_book_2", "book"),
        ("x_law_1", "law"),
    ]


def test_text_bad_files_are_rejected_and_the_rest_is_taken(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"caf\xe9")
    (tmp_path / "b.txt").write_bytes(b" \n")
    (tmp_path / "c.txt.gz").write_bytes(b"no gzip")
    (tmp_path / "d.txt").write_text("Это русский текст.", encoding="utf-8")
    (tmp_path / "e.txt").write_text(BRIDGE, encoding="utf-8")
    (tmp_path / "f.txt").write_text(BRIDGE, encoding="utf-8")
    taken = take("text", tmp_path)
    assert [reason for _, reason in taken.reasons()] == ["bad_utf8", "empty_document", "bad_file", "unknown_language"]
    assert [Path(reject.file).name for reject in taken.rejects] == ["a.txt", "b.txt", "c.txt.gz", "d.txt"]
    assert [document.title for document in taken.documents] == ["e"]
    assert [Path(duplicate.file).name for duplicate in taken.duplicates] == ["f.txt"]


def test_text_path_that_is_not_there_is_a_user_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        take("text", tmp_path / "missing")
    (tmp_path / "a.pdf").write_bytes(b"x")
    with pytest.raises(UserError, match=r"\.txt"):
        take("text", tmp_path)
    with pytest.raises(UserError, match="path="):
        take("text", None)


def test_text_real_documents_keep_every_character_and_their_language() -> None:
    folder = real_data("docs")
    taken = take("text", folder)
    files = sorted(folder.glob("*.gz"))
    assert taken.rejects == []
    assert len(taken.documents) == len(files) == 11
    by_source = {document.source: document for document in taken.documents}
    for file in files:
        document = by_source[file.name]
        assert document.text == gzip.decompress(file.read_bytes()).decode("utf-8")
        assert document.n_chars == len(document.text)
        assert [document.language, document.domain] == file.name.split("_")[:2]
