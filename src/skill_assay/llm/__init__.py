"""Structured output from language models: judges, comparators, analysts and improvers all ask through here."""
