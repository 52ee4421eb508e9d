"""What goes to a model beside the words of a question: pictures it is shown, and files it may read itself."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["NOTHING", "Attached", "Picture"]


@dataclass(frozen=True, slots=True)
class Picture:
    """An image as a model takes it."""

    name: str
    """As it is called in the question."""
    media_type: str
    """`image/png`, `image/jpeg`, `image/gif` or `image/webp`."""
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Attached:
    """Nothing, pictures, or files."""

    pictures: tuple[Picture, ...] = ()
    """In the order in which the question names them."""
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """Path below the working directory, `/`-separated → content, for a model that reads them with tools of its own."""

    @property
    def digest(self) -> str:
        """SHA-256 over all of it, hexadecimal; empty where nothing is attached."""
        if not self.pictures and not self.files:
            return ""
        digest = hashlib.sha256()
        for name, data in [*((one.name, one.data) for one in self.pictures), *sorted(self.files.items())]:
            digest.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogateescape") + data)
        return digest.hexdigest()


NOTHING = Attached()
