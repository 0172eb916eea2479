"""How does it attend?"""
