"""What is it?"""
