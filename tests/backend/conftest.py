"""Tests here use the stand-in for a device that the graph analysis has."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "graph"))
