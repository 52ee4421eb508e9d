"""What is said when an API fails: by providers, gateways and the CLIs themselves."""

from __future__ import annotations

import pytest

from skill_assay.agents.api_words import failure_from_words
from skill_assay.errors import FailureKind as Kind

SAID: dict[Kind, tuple[str, ...]] = {
    Kind.NO_CREDIT: (
        "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 3 h"
        "ours 20 minutes.",
        "You've hit your usage limit. To get more access now, send a request to your admin or try again at 3:05 PM.",
        "Quota exceeded. Check your plan and billing details.",
        "You have exhausted your daily quota on this model.",
        "You have exhausted your capacity on this model. Your quota will reset after 10h20m.",
        "Claude AI usage limit reached|1756200000",
        "5-hour limit reached ∙ resets 7pm",
        "You've hit your limit · resets 3pm (UTC)",
        "You've reached your weekly limit",
        "Your credit balance is too low to access the Anthropic API.",
        "402 Payment Required",
        "Insufficient Balance",
        "Insufficient credits. Add more using https://openrouter.ai/settings/credits",
        "This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens",
        "insufficient_quota: You exceeded your current quota, please check your plan and billing details.",
        "429 You exceeded your current quota, please check your plan and billing details. For more informatio"
        "n on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.",
        "You have no quota left (Request ID: X)",
        "You have exceeded your monthly premium request allowance",
        "Billing hard limit has been reached",
        "Your account is not active, please check your billing details on our website.",
        "You have reached your specified API usage limits. You will regain access on 2026-12-31 at 00:00 UTC.",
        "403 Arrearage: Access denied, please make sure your account is in good standing.",
        "out of extra usage",
    ),
    Kind.RATE_LIMITED: (
        '{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing '
        "details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-lim"
        "its. * Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_reque"
        'sts, limit: 10\\nPlease retry in 38.6s.","status":"RESOURCE_EXHAUSTED"}}',
        "Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000",
        "exceeded retry limit, last status: 429 Too Many Requests",
        "This request would exceed your organization's rate limit of 30,000 input tokens per minute",
        "ThrottlingException: Too many tokens, please wait before trying again.",
        "Quota exceeded for aiplatform.googleapis.com/generate_content_requests_per_minute_per_project_per_base_model",
        "Requests throttled",
        "Number of request tokens has exceeded your per-minute rate limit",
        "Resource has been exhausted (e.g. check quota).",
        "Too many concurrent requests",
    ),
    Kind.OVERLOADED: (
        "Selected model is at capacity. Please try a different model.",
        "Overloaded",
        "The engine is currently overloaded, please try again later",
        "529 overloaded_error",
        "Our servers are currently overloaded. Please try again later.",
        "The model is overloaded. Please try again later.",
    ),
    Kind.SERVER_ERROR: (
        "Internal server error",
        "500 Internal Server Error",
        "503 Service Unavailable",
        "The service is temporarily unavailable",
        "502 Bad Gateway",
        "Bad Gateway",
        "Gateway Timeout",
        "An error occurred while processing your request.",
        "server had an error while processing your request",
        "upstream connect error or disconnect/reset before headers",
    ),
    Kind.NOT_SIGNED_IN: (
        "401 Unauthorized",
        "unexpected status 401 Unauthorized: Missing bearer or basic authentication in header",
        "Incorrect API key provided: sk-xx",
        "invalid x-api-key",
        "API key not valid. Please pass a valid API key.",
        '{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_A'
        'RGUMENT"}}',
        "API key expired. Please renew the API key.",
        "Please set an Auth method in your /root/.gemini/settings.json or specify one of the following enviro"
        "nment variables before running: GEMINI_API_KEY",
        "No API key found for anthropic",
        "Missing environment variable: `OPENAI_API_KEY`.",
        "No auth type is selected. Please configure an auth type",
        "Your access token could not be refreshed because your refresh token was already used. Please log out"
        " and sign in again.",
        "Not logged in · Please run /login",
        "OAuth token has expired. Please run /login",
        "Error: No authentication information found.",
        "OpenAI API key is missing. Pass it using the 'apiKey' parameter",
        "Invalid API key · Fix external API key",
        "token expired or incorrect",
        "Authentication Fails, Your api key: ****xx is invalid",
        "403 Forbidden",
        "Your organization has been disabled",
        "Country, region, or territory not supported",
        "Could not load credentials from any providers",
        "No credentials found",
    ),
    Kind.UNKNOWN_MODEL: (
        "The model `gpt-9` does not exist or you do not have access to it.",
        "The 'gpt-5.1' model is not supported when using Codex with a ChatGPT account.",
        'unexpected status 400 Bad Request: {"detail":"The \'gpt-9\' model is not supported when using Codex wi'
        'th a ChatGPT account."}',
        "models/gemini-9 is not found for API version v1beta, or is not supported for generateContent",
        "not_found_error: model: claude-9",
        "Requested entity was not found.",
        "gpt-9 is not a valid model ID",
        "Model Not Exist",
        "Model not found: x/y",
        "model 'llama9' not found, try pulling it first",
        'Model "x" not found',
        "ProviderModelNotFoundError",
        "No models match pattern",
        "The requested model is not supported",
        "Invalid model name passed in model=gpt-9",
        "The provided model identifier is invalid.",
        "Unknown model: gpt-9",
        '400 {"error":{"message":"invalid model"}}',
    ),
    Kind.BAD_REQUEST: (
        "prompt is too long: 210000 tokens > 200000 maximum",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "Codex ran out of room in the model's context window. Start a new conversation or clear earlier histo"
        "ry before retrying.",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "Input is too long for requested model.",
        "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
        "the request exceeds the available context size",
        "Request too large (max 32MB)",
        "413 Request Entity Too Large",
        "context_length_exceeded",
        "invalid_request_error: tools.0.name invalid",
        "400 Bad Request",
        "Range of input length should be [1, 129024]",
        "too many total text bytes",
        "string too long",
    ),
    Kind.AGENT_LIMIT: (
        "content_filter",
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        "Claude Code is unable to respond to this request, which appears to violate our Usage Policy",
        "Invalid prompt: your prompt was flagged as potentially violating our usage policy",
        "maximum session turns",
        "Reached max turns",
        "Response blocked: SAFETY",
        "PROHIBITED_CONTENT",
        "Candidate was blocked due to RECITATION",
        "max_output_tokens",
        "I'm sorry, output blocked by content filtering policy",
        "Output blocked by content filtering policy",
        "data_inspection_failed: Input data may contain inappropriate content.",
        "This request has been flagged for potentially high-risk cyber activity",
    ),
    Kind.CONNECTION: (
        "stream disconnected before completion: idle timeout waiting for SSE",
        "Connection error.",
        "fetch failed",
        "getaddrinfo ENOTFOUND api.openai.com",
        "error sending request for url (https://x)",
        "read ECONNRESET",
        "socket hang up",
        "Request timed out.",
        "terminated",
        "request timeout",
        "connect ETIMEDOUT",
        "self signed certificate in certificate chain",
        "EAI_AGAIN",
        "network timeout",
        "The operation was aborted due to timeout",
        "other side closed",
        "dns error",
        "tls handshake eof",
        "Premature close",
    ),
    Kind.UNKNOWN: (
        "/home/dev/.gemini/skills/billing-report/SKILL.md could not be parsed",
        "TypeError: x is not a function at authentication.js:5",
        " the skill authentication-helper has a bad name",
        "Process terminated by the skill's own script",
        "wrote unavailable-dates.csv",
        "a model card was not found in the folder",
        "file_not_found_error: report.md",
        "the tool that the model called does not exist",
        "Temperature is unknown to the model output",
    ),
}
"""Under `UNKNOWN` stands what is no failure of an API, though some of its words are those of one."""


@pytest.mark.parametrize(("kind", "words"), [(kind, words) for kind, all_of in SAID.items() for words in all_of])
def test_fault_1_what_is_said_of_a_failure_names_its_kind(kind: Kind, words: str) -> None:
    assert failure_from_words(words).kind is kind


@pytest.mark.parametrize(
    ("words", "status", "kind"),
    [
        ("API key not valid. Please pass a valid API key.", 400, Kind.NOT_SIGNED_IN),
        ("The 'gpt-9' model is not supported when using Codex with a ChatGPT account.", 400, Kind.UNKNOWN_MODEL),
        ("Output blocked by content filtering policy", 400, Kind.AGENT_LIMIT),
        ("Unsupported parameter: 'max_tokens' is not supported with this model.", 400, Kind.BAD_REQUEST),
        ("prompt is too long: 210000 tokens > 200000 maximum", 400, Kind.BAD_REQUEST),
        ("insufficient_quota", 429, Kind.NO_CREDIT),
        ("The usage limit has been reached", 429, Kind.NO_CREDIT),
        ("You exceeded your current quota and billing details. Please retry in 38.6s.", 429, Kind.RATE_LIMITED),
        ("unauthorized: try another model", 503, Kind.SERVER_ERROR),
        ("content_filter", 500, Kind.SERVER_ERROR),
    ],
)
def test_a_status_wins_but_where_it_stands_for_other_things_too(words: str, status: int, kind: Kind) -> None:
    failure = failure_from_words(words, status=status)
    assert (failure.kind, failure.status) == (kind, status)


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Rate limit reached. Please try again in 7.5s.", 7.5),
        ("429 Too many requests; retry after 20 seconds", 20.0),
        ("Rate limit reached for tokens per day. Please try again in 7m12s.", 432.0),
        ("Overloaded, retry in 250ms", 0.25),
        ("Rate limit reached", None),
        ("401 Unauthorized: try again in 5s", None),
    ],
)
def test_the_wait_that_is_asked_for_in_words_is_honoured(words: str, seconds: float | None) -> None:
    assert failure_from_words(words).retry_after == seconds


def test_of_a_long_text_the_beginning_and_the_end_are_read() -> None:
    middle = "invalid api key " + "x" * 50_000
    failure = failure_from_words("x" * 50_000 + middle + " overloaded")
    assert failure.kind is Kind.OVERLOADED, "neither is a long message read whole"
    assert len(failure.message) + len(failure.detail or "") <= 2500
