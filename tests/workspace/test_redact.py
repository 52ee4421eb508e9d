"""No secret reaches the disk, nothing else is touched, and JSON stays JSON. All tokens here are made up."""

from __future__ import annotations

import base64
import json
import random
import string
import urllib.parse
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skill_assay.workspace.redact import Redactor

DICE = random.Random(7)
SECRET = 'p4ss/wörd+"quoted"\\with&all=kinds~of'


def chars(count: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(DICE.choice(alphabet) for _ in range(count))


def url64(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


TOKENS = {
    "anthropic": "sk-ant-" + "api03-" + chars(93) + "AA",
    "anthropic sign-in": "sk-ant-" + "oat01-" + chars(90),
    "openai": "sk-" + "proj-" + chars(60),
    "github": "ghp" + "_" + chars(36),
    "github fine-grained": "github" + "_pat_" + chars(82),
    "aws": "AKIA" + chars(16, string.ascii_uppercase + "234567"),
    "slack": "xoxb" + "-" + chars(12, string.digits) + "-" + chars(24),
    "google": "AIza" + chars(35),
    "jwt": f"{url64({'alg': 'HS256', 'typ': 'JWT'})}.{url64({'sub': '1234567890', 'iat': 1516239022})}.{chars(43)}",
    # Known to the detector only:
    "gitlab": "glpat" + "-" + chars(20),
    "npm": "npm" + "_" + chars(36),
    "hugging face": "hf" + "_" + chars(34, string.ascii_letters),
    "groq": "gsk" + "_" + chars(52),
    "stripe": "sk" + "_live_" + chars(24),
    "digital ocean": "dop" + "_v1_" + chars(64, "0123456789abcdef"),
}
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "\n".join(chars(64) for _ in range(8)) + "\n-----END RSA PRIVATE KEY-----"


@pytest.fixture(scope="module")
def redactor() -> Redactor:
    return Redactor([SECRET])


def test_fault_30_a_passed_value_is_found_in_every_form(redactor: Redactor) -> None:
    written = {
        "plain": SECRET,
        "json": json.dumps({"a": [SECRET]}),
        "json, not ascii": json.dumps({"a": SECRET}, ensure_ascii=False),
        "json in json": json.dumps({"a": json.dumps({"b": SECRET}, ensure_ascii=False)}, ensure_ascii=False),
        "url": f"https://x.example/?q={urllib.parse.quote(SECRET, safe='')}",
        "url, path": urllib.parse.quote(SECRET),
        "form": urllib.parse.urlencode({"a": SECRET}),
    }
    for name, text in written.items():
        assert "[REDACTED:passed]" in redactor.text(text), name
        assert "p4ss" not in redactor.text(text), name


@pytest.mark.parametrize("before", ["", "a", "ab", "user:"])
@pytest.mark.parametrize("after", ["", "z", "yz"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_fault_30_base64_of_a_text_around_the_value(
    before: str, after: str, encode: object, redactor: Redactor
) -> None:
    text = encode(f"{before}{SECRET}{after}".encode()).decode()  # type: ignore[operator]
    clean = redactor.text(f"Header {text}")
    left = clean.replace("Header ", "").replace("[REDACTED:passed]", "")
    assert "[REDACTED:passed]" in clean
    assert len(left) <= len(before + after) * 4 / 3 + 8


@pytest.mark.parametrize("name", TOKENS)
@pytest.mark.parametrize("frame", ["the value is %s here", "%s", "KEY=%s\nnext", "'%s',", "a\\n%s\\nb"])
def test_fault_30_known_shapes(name: str, frame: str, redactor: Redactor) -> None:
    clean = redactor.text(frame % TOKENS[name])
    assert TOKENS[name] not in clean and TOKENS[name][-12:] not in clean
    left = frame.split("%s")
    assert clean.startswith(left[0]) and clean.endswith(left[1])


@pytest.mark.parametrize("name", TOKENS)
def test_fault_30_in_a_stream_line_after_an_escaped_newline(name: str, redactor: Redactor) -> None:
    line = json.dumps({"type": "tool_result", "content": f"first\n{TOKENS[name]}\nlast"}).encode()
    clean = redactor.bytes(line)
    assert TOKENS[name].encode() not in clean
    content = json.loads(clean)["content"]
    assert content.startswith("first\n[REDACTED:") and content.endswith("]\nlast")


@pytest.mark.parametrize("text", [KEY, json.dumps({"file": KEY}), json.dumps({"a": json.dumps(KEY)}), KEY[:300]])
def test_fault_30_private_keys_whole_escaped_and_cut_off(text: str, redactor: Redactor) -> None:
    clean = redactor.text(f"{text}")
    assert KEY[60:90] not in clean and KEY[200:220] not in clean
    if text.startswith("{"):
        json.loads(clean)


@pytest.mark.parametrize(
    "url",
    [
        "https://b.example/o?X-Amz-Algorithm=A&X-Amz-Credential=%s&X-Amz-Signature=%s&x=1",
        "https://b.example/o?sv=2024&sig=%s&se=2026",
        "https://b.example/o?a=1&amp;token=%s",
        "https://b.example/o?a=1\\u0026access_token=%s",
        "https://b.example/o?Expires=1&Signature=%s",
        "curl -H 'Authorization: Bearer %s'",
        '{"headers": {"Authorization": "Basic %s"}}',
    ],
)
def test_fault_30_signed_urls_and_headers(url: str, redactor: Redactor) -> None:
    value = "0a" + chars(40)
    clean = redactor.text(url.replace("%s", value))
    assert value not in clean
    assert clean.split("[REDACTED")[0] == url.split("%s")[0]


@pytest.mark.parametrize(
    "text",
    [
        "session 8bf06253-c246-4e4b-a379-f218dd0a193c",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        '{"id": "msg_01XFDUDYJgAACzvnptvVoYEL", "tool": "toolu_01A09q90qw90lq917835lq9"}',
        "password: example, api_key = YOUR_API_KEY, postgres://user:password@localhost/db",
        "https://x.example/?token=YOUR_ACCESS_TOKEN_HERE",
        "https://x.example/list?page=2&key=name&sort=token",
        "The sk-learn tutorial uses task-based-identifiers-and-long-css-class-names.",
        "AKIAIOSFODNN7EXAMPLE is the one in the manual",
        "Bearer of bad news; authorization is basic here",
        "-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAK\n-----END PUBLIC KEY-----",
        "claude-sonnet-4-5-20250929 /usr/lib/python3.11/site-packages/numpy-2.0.0.dist-info/METADATA",
    ],
)
def test_what_is_no_secret_is_left_alone(text: str, redactor: Redactor) -> None:
    """Redacted outputs are graded, so a wrong guess would change a result."""
    assert redactor.text(text) is text
    assert redactor.bytes(data := text.encode()) is data


def test_strangers_real_files_are_left_alone(shared_data: Path, redactor: Redactor) -> None:
    changed = [
        str(path)
        for folder in ("streams", "evals", "workspaces", "results")
        for path in sorted((shared_data / folder).rglob("*"))
        if path.is_file() and redactor.bytes(data := path.read_bytes()) is not data
    ]
    assert changed == []


def test_keep_changes_nothing() -> None:
    assert Redactor([SECRET], keep=True).text(text := f"{SECRET} {TOKENS['github']}") is text


def test_short_values_are_not_looked_for() -> None:
    assert Redactor(["1", "true", ""]).text("1 is true") == "1 is true"


def test_what_is_no_utf8_passes_through(redactor: Redactor) -> None:
    token = TOKENS["github"].encode()
    assert redactor.bytes(b"\xff\xfe \x80 " + token + b" \xc3") == b"\xff\xfe \x80 [REDACTED:github-token] \xc3"


def test_a_nul_byte_hides_nothing_after_it(redactor: Redactor) -> None:
    assert TOKENS["gitlab"] not in redactor.text(f"a\0b {TOKENS['gitlab']}")


def test_a_number_that_is_a_secret_leaves_valid_json() -> None:
    clean = Redactor(["12345678"]).text('{"pin": 12345678, "n": 5}')
    assert json.loads(clean) == {"pin": "[REDACTED:passed]", "n": 5}


def test_a_secret_across_a_quote_leaves_valid_json() -> None:
    clean = Redactor(['abc", "def']).text('{"x": ["abc", "def"], "y": 1}')
    assert json.loads(clean)["y"] == 1
    json.loads(Redactor(['abc": "def']).text('{"abc": "def"}'))


def test_a_secret_that_begins_inside_an_escape_leaves_valid_json() -> None:
    clean = Redactor(["nabcdefgh"]).text('{"x": "1\\nabcdefgh"}\n{"y": "nabcdefgh"}')
    lines = [json.loads(line) for line in clean.split("\n")]
    assert lines[1] == {"y": "[REDACTED:passed]"}


def test_without_the_detector_the_common_shapes_are_still_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "betterleaks", None)
    mine = Redactor([])
    assert "[REDACTED:github-token]" in mine.text(TOKENS["github"])
    assert mine.text(TOKENS["gitlab"]) == TOKENS["gitlab"]


def test_a_detected_token_is_found_again_though_seen_before(redactor: Redactor) -> None:
    for _ in range(3):
        assert TOKENS["npm"] not in redactor.text(f"again {TOKENS['npm']}")


def test_a_large_image_is_passed_through_quickly(redactor: Redactor) -> None:
    image = base64.b64encode(DICE.randbytes(300_000)).decode()
    line = json.dumps({"type": "image", "data": image})
    assert redactor.text(line) is line


odd = [SECRET, "nabcdefgh", "[REDACTED:passed]", "?token=", "sk-", "\\", '"', "\n"]
pieces = st.lists(st.one_of(st.sampled_from([*TOKENS.values(), *odd]), st.text(max_size=8)), max_size=6)
BOTH = Redactor([SECRET, "nabcdefgh", "passed", "REDACTED"])


@given(pieces)
@example(["\\", "nabcdefgh"])
def test_twice_is_as_once(parts: list[str]) -> None:
    once = BOTH.text("".join(parts))
    assert BOTH.text(once) == once


leaves = pieces.map("".join) | st.integers() | st.none()
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner), max_leaves=5)


@given(values, st.booleans())
def test_json_stays_json_and_holds_no_secret(value: object, ascii_only: bool) -> None:
    line = json.dumps({"v": value}, ensure_ascii=ascii_only)
    clean = BOTH.text(line)
    text = json.dumps(json.loads(clean), ensure_ascii=False)
    assert "nabcdefgh" not in text
    assert json.dumps(SECRET, ensure_ascii=False)[1:-1] not in text
    assert TOKENS["jwt"] not in text
