"""Before the transformer"""
