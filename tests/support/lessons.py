"""The lessons that browser tests open: one with players and exercises. WORKBOOK_EVERYTHING opens all."""

import os
from pathlib import Path

LESSONS = [
    path
    for path in sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
    if "WORKBOOK_EVERYTHING" in os.environ or path.stem[:2] == "03"
]
