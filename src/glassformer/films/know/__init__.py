"""What does it know?"""
