"""The page: its built file lies in static/, its source in frontend/."""
