"""What all judges stand on: cases, verdicts, baselines, reports and comparison."""
