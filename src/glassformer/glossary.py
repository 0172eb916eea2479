"""The named points of the forward pass and the axes of its arrays: one vocabulary for code, files, labels and page."""

WHOLE = {
    "token_embedding": ("position", "feature"),
    "position_embedding": ("position", "feature"),
    "embedded": ("position", "feature"),
    "final": ("position", "feature"),
    "logits": ("position", "token"),
    "probabilities": ("position", "token"),
}
PER_BLOCK = {
    "normed_1": ("position", "feature"),
    "query": ("head", "query_position", "feature"),
    "key": ("head", "key_position", "feature"),
    "value": ("head", "key_position", "feature"),
    "scores": ("head", "query_position", "key_position"),
    "attention": ("head", "query_position", "key_position"),
    "mixed": ("head", "query_position", "feature"),
    "attended": ("position", "feature"),
    "middle": ("position", "feature"),
    "normed_2": ("position", "feature"),
    "hidden_in": ("position", "neuron"),
    "hidden": ("position", "neuron"),
    "fed": ("position", "feature"),
    "out": ("position", "feature"),
}
POINTS = (*list(WHOLE)[:3], *PER_BLOCK, *list(WHOLE)[3:])  # in the order of the computation


def axes(name: str) -> tuple[str, ...]:
    """The axes of a point's array, after any batch axes (the position embedding never has those)."""
    return ("block", *PER_BLOCK[name]) if name in PER_BLOCK else WHOLE[name]
