"""What a run means: checks, time limits, diagnoses of symptoms, and what an opaque string is."""
