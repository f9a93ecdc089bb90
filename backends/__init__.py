"""Backends: conversion of compiled modules to text, files or running programs."""
