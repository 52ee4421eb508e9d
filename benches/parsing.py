"""How fast an agent's stream is framed and parsed: bytes to events, on recordings of the real CLI."""

from __future__ import annotations

import json
import os
from pathlib import Path

from benches.figures import ROOT, Figure, median, timed

NAME = "parsing"
MEGABYTES = 40
CHUNK = 65_536
OTHER_FORMATS = ("claude_output_text", "claude_output_json")


def recordings() -> list[bytes]:
    place = Path(os.environ.get("ASSAY_DATA") or ROOT.parent / "shared" / "data") / "streams"
    return [path.read_bytes() for path in sorted(place.glob("claude*.jsonl")) if path.stem not in OTHER_FORMATS]


def parse(stream: bytes) -> int:
    from skill_assay.agents.claude_code_parser import ClaudeCodeParser
    from skill_assay.agents.framing import LineFramer

    framer, parser, events = LineFramer(), ClaudeCodeParser(), 0
    for at in range(0, len(stream), CHUNK):
        for line in framer.feed(stream[at : at + CHUNK]):
            events += len(list(parser.feed(line)))
    for line in framer.end():
        events += len(list(parser.feed(line)))
    parser.end(0, "")
    return events


def measure() -> list[Figure]:
    streams = recordings()
    if not streams:
        return [Figure("stream parsing", None, "MB/s", 60, more_is_better=True, note="no shared data")]
    rounds = MEGABYTES * 10**6 // sum(map(len, streams)) + 1
    total = rounds * sum(map(len, streams)) / 1e6

    def once() -> float:
        return total / timed(lambda: [parse(stream) for _ in range(rounds) for stream in streams])

    lines = [line for stream in streams for line in stream.splitlines() if line]
    json_alone = total / timed(lambda: [json.loads(line) for _ in range(rounds) for line in lines])
    note = f"{len(streams)} recordings, {total:.0f} MB a round; json.loads of every line {json_alone:.0f} MB/s"
    return [Figure("stream parsing", median(once, 5), "MB/s", 60, more_is_better=True, note=note)]
