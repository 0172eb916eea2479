"""The models: one file each, and the file holds all of its mathematics."""
