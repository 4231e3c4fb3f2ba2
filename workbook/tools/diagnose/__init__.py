"""From a symptom to its cause: diagnoses, incidents, and a look into opaque values."""
