"""The LanguageModel seam: through an agent CLI or an API."""
