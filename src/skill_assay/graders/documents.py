"""Office documents and PDFs as text, by markitdown (extra `[documents]`), in a worker process that can be ended.

Nothing is fetched: the content is handed over, plug-ins are off, and a document's links stay links.
"""

from __future__ import annotations

import io
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any

from skill_assay.formats.archives import BadArchive, weighed
from skill_assay.graders.bounded import NoAnswer, bounded
from skill_assay.graders.outputs import Unreadable, read_bytes

__all__ = ["document_text", "is_document"]

UNPACKED_LIMIT = 200_000_000
"""Bytes that a document, an archive, may unpack to."""
TEXT_LIMIT = 2_000_000
"""Characters kept of one document."""

_ENDINGS = frozenset({".docx", ".pdf", ".pptx", ".xlsx"})


def is_document(name: str) -> bool:
    """Whether a file is called like a document that can be turned into text."""
    return PurePosixPath(name).suffix.lower() in _ENDINGS


async def document_text(outputs: Path, name: str) -> str:
    """The text of the document `name` below `outputs`, as Markdown.

    Raises:
        Unreadable: it can't be had; the message says why, in words that follow its name.
    """
    if find_spec("markitdown") is None:
        raise Unreadable("is a document; pip install 'skill-assay[documents]' lets a judge read it")
    data = read_bytes(outputs, name)
    try:
        text = await bounded(_converted, data, PurePosixPath(name).suffix.lower())
    except NoAnswer as error:
        raise Unreadable(f"can't be turned into text: {error}") from error
    if text is None:
        raise Unreadable("is a document that can't be opened")
    if not text.strip():
        raise Unreadable("is a document without text")
    return text[:TEXT_LIMIT]


def _converted(data: bytes, ending: str) -> str | None:
    """`None` for what no converter can open. Runs in a worker process."""
    if ending != ".pdf" and not _opens(data):
        return None
    from markitdown import MarkItDown, MarkItDownException, StreamInfo
    from markitdown.converters import DocxConverter, PdfConverter, PptxConverter, XlsxConverter

    # With all converters, what one of these can't open would be taken for plain text.
    known: dict[str, Any] = {
        ".docx": DocxConverter,
        ".pdf": PdfConverter,
        ".pptx": PptxConverter,
        ".xlsx": XlsxConverter,
    }
    converting = MarkItDown(enable_builtins=False, enable_plugins=False)
    converting.register_converter(known[ending]())
    try:
        found = converting.convert_stream(io.BytesIO(data), stream_info=StreamInfo(extension=ending))
    except MarkItDownException:
        return None
    return str(found.markdown).replace("\r\n", "\n")


def _opens(data: bytes) -> bool:
    """Whether it is an archive that unpacks to a sensible size."""
    try:
        return weighed(data)[1] <= UNPACKED_LIMIT
    except BadArchive:
        return False
