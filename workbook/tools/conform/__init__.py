"""Tests of your own back end and your own app."""
