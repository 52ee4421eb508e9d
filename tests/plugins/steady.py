"""Property tests do not depend on how fast the machine is just now; in CI they try the same examples every time."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.plugins.skips import in_ci

settings.register_profile(
    "steady",
    deadline=None,
    derandomize=in_ci(),
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("steady")
