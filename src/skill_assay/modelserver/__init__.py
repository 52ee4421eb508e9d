"""A scripted model server on loopback: the model of tests, of the canary and of demonstrations."""

from skill_assay.modelserver.script import (
    Cut,
    Error,
    Hang,
    Item,
    Received,
    Router,
    Rule,
    Script,
    Text,
    ToolUse,
    Turn,
    Wait,
)
from skill_assay.modelserver.server import ModelServer, serve

__all__ = [
    "Cut",
    "Error",
    "Hang",
    "Item",
    "ModelServer",
    "Received",
    "Router",
    "Rule",
    "Script",
    "Text",
    "ToolUse",
    "Turn",
    "Wait",
    "serve",
]
