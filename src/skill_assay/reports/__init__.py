"""What a person reads: terminal, Markdown, charts, CI formats."""
