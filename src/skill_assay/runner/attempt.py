"""One launch of the agent, from its start to what it says last."""

from __future__ import annotations

import dataclasses
import socket
import time
from collections.abc import Iterable

from skill_assay.agents.patience import Patience, error_reader
from skill_assay.agents.process import Exit, Identity, run
from skill_assay.errors import Failure, FailureKind
from skill_assay.model.protocols import Parser, StopWhen
from skill_assay.model.transcript import Event, Finished, Retrying
from skill_assay.model.trial import Attempt, TrialSpec
from skill_assay.runner.admission import LaunchPermit
from skill_assay.runner.prepare import Room
from skill_assay.runner.rig import Rig
from skill_assay.runner.watch import Watch
from skill_assay.workspace.writing import LineSink, utc_now

__all__ = ["launch"]


async def launch(
    spec: TrialSpec, number: int, room: Room, rig: Rig, permit: LaunchPermit, stop_when: StopWhen | None
) -> Attempt:
    """Start the agent, follow its output as it comes, and sum up how it ended.

    Cancellation ends the agent and leaves the attempt recorded as interrupted in the journal.
    """
    agent = rig.arms[spec.arm.name].agent
    request = dataclasses.replace(
        room.request,
        key={**room.request.key, "attempt": number},
        max_cost_usd=_cost_cap(spec, rig, permit),
    )
    parser = agent.parser(request)
    launched_at = utc_now("milliseconds")
    rig.ledger.note("attempt_started", trial=str(spec.id), attempt=number)
    reader = _Reader(parser, permit, stop_when, _token_cap(spec, rig, permit))
    with rig.iteration.run_folder(spec.id).attempt_sink(number) as sink:
        reader.sink = sink
        end = await run(
            rig.sandbox.wrap(agent.launch(request), room.place),
            on_line=reader.line,
            on_error_line=error_reader(parser, reader.events),
            on_start=lambda identity: _note_start(rig, spec, number, identity),
            time_limit=spec.limits.seconds,
        )
    return _sum_up(number, launched_at, end, reader, permit.reserved.usd)


def _cost_cap(spec: TrialSpec, rig: Rig, permit: LaunchPermit) -> float | None:
    """The cap handed to the CLI: one's own, else under a budget what was set aside, so that it can't be overshot."""
    if spec.limits.cost_usd is not None or rig.settings.budget.usd is None:
        return spec.limits.cost_usd
    return permit.reserved.usd or None


def _token_cap(spec: TrialSpec, rig: Rig, permit: LaunchPermit) -> int | None:
    if spec.limits.tokens is not None or rig.settings.budget.tokens is None:
        return spec.limits.tokens
    return permit.reserved.tokens or None


class _Reader:
    """Follows one attempt's lines: to disk, into events, to whoever watches."""

    def __init__(self, parser: Parser, permit: LaunchPermit, stop_when: StopWhen | None, token_cap: int | None) -> None:
        self.parser = parser
        self.watch = Watch()
        self.patience = Patience()
        self.sink: LineSink | None = None
        self.capped = False
        self.decided: float | None = None
        """Seconds until `stop_when` had seen enough."""
        self._permit = permit
        self._stop_when = stop_when
        self._token_cap = token_cap
        self._began = time.monotonic()

    def line(self, line: bytes) -> str | None:
        """One line of output; a text ends the attempt."""
        if self.sink is not None:
            self.sink.line(line, time.monotonic() - self._began)
        return self.events(self.parser.feed(line))

    def events(self, events: Iterable[Event]) -> str | None:
        """What was read of one line; a text ends the attempt."""
        for event in events:
            if self.decided is None:
                # What a CLI still does while it is being ended is no part of what was decided.
                self.watch.see(event)
            if isinstance(event, Retrying):
                self._permit.slow_down(event.failure)
            enough = self.patience.see(event) if self.decided is None else None
            if enough is not None:
                return enough
            decided = self._stop_when(event) if self._stop_when else None
            if decided is not None and self.decided is None:
                self.decided = time.monotonic() - self._began
                return decided
        return self._over_cap()

    def _over_cap(self) -> str | None:
        used = getattr(self.parser, "tokens_so_far", None)
        if self._token_cap is None or used is None or used <= self._token_cap:
            return None
        self.capped = True
        return "token cap"


def _note_start(rig: Rig, spec: TrialSpec, number: int, identity: Identity) -> None:
    rig.ledger.note(
        "attempt_running",
        trial=str(spec.id),
        attempt=number,
        pid=identity.pid,
        pid_started=identity.started,
        pgid=identity.pgid,
        program_started=identity.program_started,
        host=socket.gethostname(),
    )


def _sum_up(number: int, launched_at: str, end: Exit, reader: _Reader, reserved_usd: float) -> Attempt:
    watch, early = reader.watch, None if reader.capped or reader.patience.lost else end.ended_early
    finished = reader.parser.end(end.exit_code, end.stderr)
    failure = _failure(end, finished, reader)
    return Attempt(
        number=number,
        failure=failure,
        answer=finished.answer if finished.answer is not None or failure else watch.last_text,
        usage=finished.usage,
        started=watch.started,
        skill_uses=tuple(watch.uses),
        models=finished.models,
        launched_at=launched_at,
        ended_at=utc_now("milliseconds"),
        wall_seconds=round(end.wall_seconds, 4),
        waited_seconds=round(watch.waited, 4),
        first_event_seconds=end.first_line_seconds,
        exit_code=end.exit_code,
        decided_seconds=None if reader.decided is None else round(reader.decided, 4),
        ended_early=early,
        reserved_usd=reserved_usd if early else None,
        unknown_events=watch.unknown,
        stderr_tail=end.stderr[-2000:],
        structured=finished.structured,
        tools_called=dict(watch.tools),
        tool_errors=watch.tool_errors,
        pid=end.identity.pid if end.identity else None,
        pid_started=end.identity.started if end.identity else None,
        pgid=end.identity.pgid if end.identity else None,
    )


def _failure(end: Exit, finished: Finished, reader: _Reader) -> Failure | None:
    if end.launch_error is not None:
        return Failure(FailureKind.CRASHED, f"could not be started: {end.launch_error}")
    if reader.capped:
        return Failure(FailureKind.TRIAL_CAP, "ended at the cap of tokens for one trial")
    if reader.patience.lost is not None:
        return reader.patience.lost
    if end.ended_early is not None:
        return None
    if end.timed_out and (finished.failure is not None or finished.answer is None):
        return reader.patience.waiting_for or Failure(FailureKind.TIME_LIMIT, "ended at its time limit")
    return finished.failure
