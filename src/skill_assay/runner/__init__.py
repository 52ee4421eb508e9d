"""Plan, sandbox, trial, engine: from a plan to recorded trials."""
