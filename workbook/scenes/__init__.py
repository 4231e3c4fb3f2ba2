"""Scenes: what a lesson's cell calls to set a stage, play on it, and show what came of it.

Here stands the lessons' vocabulary; each name is explained where it is defined.
"""

from workbook.benches.app_a import App
from workbook.scenes.faults import MOMENTS, OPERATIONS, PLATFORMS, break_it
from workbook.scenes.platform_a import DEVICES, ask, create_with, open_card, practice_client, walk
from workbook.scenes.platform_b import PHONES, WALLETS, add_from_wallet, add_in_app, side_by_side

__all__ = [
    "DEVICES",
    "MOMENTS",
    "OPERATIONS",
    "PHONES",
    "PLATFORMS",
    "WALLETS",
    "App",
    "add_from_wallet",
    "add_in_app",
    "ask",
    "break_it",
    "create_with",
    "open_card",
    "practice_client",
    "side_by_side",
    "walk",
]
