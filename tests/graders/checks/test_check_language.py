import pytest

from skill_assay.errors import InputError
from skill_assay.graders.checks.language import CODES

ENGLISH = "The report lists every expense of the month, sorted by date, with a total at the end."
GERMAN = "Der Bericht führt alle Ausgaben des Monats nach Datum sortiert auf, mit einer Summe am Ende."
CHINESE = "这份报告列出了本月的所有支出，按日期排序，最后是总计。"


@pytest.mark.slow
def test_the_answer_is_looked_at(desk):
    desk.says(ENGLISH).file("bericht.md", GERMAN)
    assert desk.verdict({"language": "en"}) == "passed"
    assert desk.verdict({"language": "de"}) == "failed"
    assert desk.verdict({"not": {"language": "de"}}) == "passed"
    assert desk.verdict({"language": {"is": "de", "in": "*.md"}}) == "passed"
    assert desk.verdict({"language": {"is": "en", "in": ["answer", "files"]}}) == "failed"
    assert desk.says(CHINESE).verdict({"language": "zh"}) == "passed"


@pytest.mark.parametrize("text", ["OK.", "12345 67890 12345 67890", "```\nthe whole answer is a block of code\n```"])
def test_too_little_text_decides_nothing_and_fails(desk, text):
    desk.says(text)
    for check in ({"language": "en"}, {"not": {"language": "en"}}):
        grade = desk.grade(check)
        assert grade.passed is False
        assert "too few to tell a language by" in grade.evidence


@pytest.mark.slow
def test_of_a_json_file_the_texts_are_read(desk):
    desk.file("prompt.json", '{"zahl": 3, "p": ["' + ENGLISH + '"]}')
    assert desk.verdict({"language": {"is": "en", "in": "prompt.json"}}) == "passed"


def test_code_and_addresses_are_left_out(desk):
    desk.says(GERMAN + "\n```python\nfor the_item in all_of_the_items: print(the_item, and, the, others)\n```")
    assert desk.verdict({"language": "de"}) == "passed"


@pytest.mark.parametrize(("code", "hint"), [("english", "short ISO code"), ("en-US", 'Write "en"'), ("xx", "ISO code")])
def test_bad_arguments(desk, code, hint):
    with pytest.raises(InputError, match=hint):
        desk.compile({"language": code})


def test_the_codes_are_those_the_detector_knows():
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    assert set(LanguageIdentifier.from_model_file(MODEL_FILE).labels) - {"zxx"} == CODES
