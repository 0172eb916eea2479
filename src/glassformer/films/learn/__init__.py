"""Did it learn?"""
