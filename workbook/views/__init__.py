"""What a person sees of a run. Each view is one model with a text form and an HTML form; no widgets in here."""
