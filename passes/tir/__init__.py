"""Passes over the tir dialect: schedules, and their lowering to plain loops."""
