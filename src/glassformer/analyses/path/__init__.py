"""How did it get there?"""
