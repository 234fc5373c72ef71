"""The instrument of `make bench`: one job a module; bench.py beside this folder is the way in."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "integration"))  # what tests and benchmarks share
import process_facts  # noqa: E402, F401
