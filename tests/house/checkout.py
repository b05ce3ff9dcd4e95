"""Where the checkout under test stands (pyproject.toml puts this folder on pytest's path)."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK_PAGES = ROOT / "docs" / "blocks"
