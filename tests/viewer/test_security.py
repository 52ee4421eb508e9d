"""The door, the headers, the files that may be had. Faults 22 and 23."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from skill_assay.errors import InputError
from skill_assay.viewer.files import Refused, inside, list_files, read_bytes
from skill_assay.viewer.security import Door
from skill_assay.viewer.serve import listen
from skill_assay.viewer.static import Budget, static_page
from tests.viewer.small import DOOR, ORIGIN, client_of, site_of, small_iteration, write

RUN = "eval-e1-with_skill-run-1"
PAGE = "/i/iteration-1/overview"


def test_the_token_opens_once_and_the_cookie_after(tmp_path: Path) -> None:
    client = client_of(site_of(small_iteration(tmp_path)), signed_in=False)
    assert client.get(PAGE).status_code == 403
    assert client.get("/?token=wrong").status_code == 403
    entered = client.get(f"/?token={DOOR.token}")
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    assert "HttpOnly" in entered.headers["set-cookie"] and "SameSite=Strict" in entered.headers["set-cookie"]
    assert client.get(PAGE).status_code == 200


def test_the_token_is_in_no_page_and_no_representation(tmp_path: Path) -> None:
    client = client_of(site_of(small_iteration(tmp_path)))
    assert DOOR.token not in client.get(PAGE).text
    assert DOOR.token not in repr(DOOR)
    assert Door(1).token != Door(1).token


@pytest.mark.parametrize("host", ["evil.example", "evil.example:4242", "127.0.0.1:4243", "127.0.0.1", ""])
def test_fault_23_another_host_name_is_refused(tmp_path: Path, host: str) -> None:
    client = client_of(site_of(small_iteration(tmp_path)))
    answer = client.get(PAGE, headers={"host": host})
    assert answer.status_code == 421
    assert "e1" not in answer.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://evil.example", "content-type": "application/json"}, 403),
        ({"origin": "null", "content-type": "application/json"}, 403),
        ({"origin": "http://127.0.0.1:4243", "content-type": "application/json"}, 403),
        ({"content-type": "application/json"}, 403),
        ({**ORIGIN, "content-type": "text/plain"}, 415),
        ({**ORIGIN, "content-type": "application/x-www-form-urlencoded"}, 415),
        ({**ORIGIN, "content-type": "application/json", "sec-fetch-site": "cross-site"}, 403),
        ({**ORIGIN, "content-type": "application/json"}, 200),
    ],
)
def test_fault_23_posts_come_from_our_own_pages_as_json(tmp_path: Path, headers: dict[str, str], status: int) -> None:
    iteration = small_iteration(tmp_path)
    answer = client_of(site_of(iteration)).post(
        "/i/iteration-1/feedback", content='{"status": "complete"}', headers=headers
    )
    assert answer.status_code == status
    assert iteration.feedback_path.exists() == (status == 200)


def test_every_answer_carries_a_policy_without_inline_script(tmp_path: Path) -> None:
    client = client_of(site_of(small_iteration(tmp_path)))
    for path in (PAGE, "/assets/viewer.js", f"/i/iteration-1/trial/{RUN}", "/nothing"):
        policy = client.get(path).headers["content-security-policy"]
        assert "script-src 'self'" in policy and "unsafe" not in policy
        assert client.get(path).headers["x-content-type-options"] == "nosniff"


def test_pages_hold_no_inline_script_style_or_handler(tmp_path: Path) -> None:
    client = client_of(site_of(small_iteration(tmp_path)))
    for path in (PAGE, "/i/iteration-1/evals", "/i/iteration-1/expectations", f"/i/iteration-1/trial/{RUN}"):
        page = client.get(path).text
        assert page.count("<script") == 1 and 'src="/assets/viewer.js"' in page
        assert " style=" not in page and " onclick=" not in page


@pytest.mark.parametrize(
    "name",
    [
        "../trial.json/..",
        "outputs/../../../plan.json",
        "/etc/passwd",
        "outputs",
        "",
        "a\0b",
        "..%2f..%2fplan.json",
        ".",
    ],
)
def test_paths_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    folder = small_iteration(tmp_path).path / "eval-e1/with_skill/run-1"
    with pytest.raises(Refused):
        inside(folder, name)


def test_files_come_from_run_folders_only(tmp_path: Path) -> None:
    client = client_of(site_of(small_iteration(tmp_path)))
    below = f"/i/iteration-1/file/{RUN}"
    assert client.get(f"{below}/outputs/deep/report.md").text == "# Report\n\nTotal: 12\n"
    for name in ("%2e%2e/%2e%2e/%2e%2e/plan.json", "outputs/%2e%2e/%2e%2e/%2e%2e/%2e%2e/plan.json", "nothing"):
        assert client.get(f"{below}/{name}").status_code == 404


def test_links_are_not_followed_wherever_they_stand(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret", encoding="utf-8")
    iteration = small_iteration(tmp_path)
    outputs = iteration.path / "eval-e1/with_skill/run-1/outputs"
    (outputs / "link.txt").symlink_to(secret)
    (outputs / "folder").symlink_to(tmp_path)
    client = client_of(site_of(iteration))
    page = client.get(f"/i/iteration-1/trial/{RUN}")
    assert page.status_code == 200
    assert "the secret" not in page.text and "a link, which is not followed" in page.text
    for name in ("outputs/link.txt", "outputs/folder/secret.txt"):
        assert client.get(f"/i/iteration-1/file/{RUN}/{name}").status_code == 404


def test_a_run_folder_whose_answer_is_a_link_shows_none(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret", encoding="utf-8")
    iteration = small_iteration(tmp_path)
    answer = iteration.path / "eval-e1/with_skill/run-1/answer.md"
    answer.unlink()
    answer.symlink_to(secret)
    assert "the secret" not in client_of(site_of(iteration)).get(f"/i/iteration-1/trial/{RUN}").text


def test_what_can_not_be_sent_as_utf_8_breaks_no_page(tmp_path: Path) -> None:
    """A name on a disk is bytes, and JSON may hold half a surrogate pair: neither is text that can be sent."""
    iteration = small_iteration(tmp_path)
    half = "half \ud800 a pair"
    for outputs in [path for path in iteration.path.rglob("outputs") if path.is_dir()]:
        for name in (b"\xff.md", b"deep\xfe/in.txt", "\u202ename\n.md".encode()):
            path = Path(os.fsdecode(os.fsencode(outputs) + b"/" + name))
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"# \xff\n")
        (outputs / "pairs.json").write_text(json.dumps({half: [half]}), encoding="utf-8")
        line = {"type": "text", "text": half}
        (outputs.parent / "attempt-1.jsonl").write_text(
            "\n".join(json.dumps(one) for one in ({"type": "started", "assay": 1}, line)), encoding="utf-8"
        )
    site = site_of(iteration)
    client, found = client_of(site), site.open("iteration-1")
    for page in ("overview", "evals", "expectations", "compare", *(f"trial/{run}" for run in found.runs)):
        assert client.get(f"/i/iteration-1/{page}").status_code == 200
    shown = client.get(f"/i/iteration-1/trial/{next(iter(found.runs))}").text
    assert "\ufffd.md: its name is no UTF-8" in shown and "name\n.md" in shown
    assert static_page(site, found, Budget())[0].encode()


ODD = {
    "deep list": b"[" * 100_000,
    "deep object": b'{"a":' * 100_000,
    "no text": b"\xff",
    "no object": b'"x"',
    "half a pair": b'{"run_id": "\\ud800", "description": "\\ud800", "queries": ["\\ud800"]}',
    "no number": b'{"run_id": NaN, "description": NaN, "queries": NaN}',
}


@pytest.mark.parametrize("body", ODD)
@pytest.mark.parametrize("where", ["feedback", "candidate", "queries"])
def test_a_post_that_makes_no_sense_is_refused_and_breaks_nothing(tmp_path: Path, where: str, body: str) -> None:
    client = client_of(site_of(small_iteration(tmp_path)))
    headers = {**ORIGIN, "content-type": "application/json"}
    answer = client.post(f"/i/iteration-1/{where}", content=ODD[body], headers=headers)
    assert answer.status_code in (400, 409) and answer.json()["error"]


def test_listing_says_what_it_left_out(tmp_path: Path) -> None:
    write(tmp_path, {f"f{number}": b"x" for number in range(5)})
    found = list_files(tmp_path, 3)
    assert [one.name for one in found.files] == ["f0", "f1", "f2"]
    assert found.left_out == ("f3: more than 3 files", "f4: more than 3 files")


def test_a_long_file_is_cut(tmp_path: Path) -> None:
    write(tmp_path, {"long": b"0123456789"})
    assert read_bytes(tmp_path, "long", 4) == (b"0123", True)
    assert read_bytes(tmp_path, "long", 10) == (b"0123456789", False)


def test_html_an_agent_made_is_framed_without_scripts(tmp_path: Path) -> None:
    iteration = small_iteration(tmp_path)
    write(iteration.path / "eval-e1/with_skill/run-1/outputs", {"page.html": b"<script>alert(1)</script>"})
    client = client_of(site_of(iteration))
    framed = client.get(f"/i/iteration-1/frame/{RUN}/outputs/page.html")
    assert framed.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert client.get(f"/i/iteration-1/file/{RUN}/outputs/page.html").headers["content-type"] == (
        "application/octet-stream"
    )
    page = client.get(f"/i/iteration-1/trial/{RUN}").text
    assert 'sandbox title="page.html"' in page and "<script>alert" not in page


def test_it_listens_on_loopback_and_leaves_a_taken_port_alone() -> None:
    """Fault 23: whoever holds the port keeps it."""
    first = listen(None, "a place")
    second = listen(None, "a place")
    try:
        assert first.getsockname()[0] == second.getsockname()[0] == "127.0.0.1"
        assert first.getsockname()[1] != second.getsockname()[1]
        with pytest.raises(InputError, match="taken"):
            listen(first.getsockname()[1], "x")
        with socket.create_connection(first.getsockname(), timeout=5):
            pass
    finally:
        first.close()
        second.close()


def test_a_place_prefers_the_same_port_again() -> None:
    """What a browser keeps for a page, it keeps by port: words not yet saved must be found after a restart."""
    ports = []
    for _ in range(2):
        found = listen(None, "some place of this test")
        ports.append(found.getsockname()[1])
        found.close()
    assert ports[0] == ports[1]
