"""The scripted model server, the wire protocols it speaks, and the canary's scripts."""
