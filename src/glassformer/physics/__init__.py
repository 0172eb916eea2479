"""Models small enough to be physics: `physics.one_layer()` imports physics/models/one_layer.py and no other model."""

from glassformer import _discover

__getattr__, __dir__ = _discover.public(__name__)
