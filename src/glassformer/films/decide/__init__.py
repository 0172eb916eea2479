"""How does it decide?"""
