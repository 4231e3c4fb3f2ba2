"""What a run means: checks, verdicts on time limits, diagnoses of symptoms, and what an opaque string is."""
