"""Is it healthy?"""
