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
AXES = {  # axis → the kind of its places
    "step": "step",
    "member": "member",
    "batch": "input",
    "block": "block",
    "head": "head",
    "position": "position",
    "token": "token",
    "feature": "feature",
    "neuron": "neuron",
    # of analyses
    "window": "input",  # inputs that are judged one by one
    "pair": "pair",  # a token at a position
    "direction": "direction",  # the two directions of a plane, horizontal and vertical
    "horizontal": "quantity",  # places along the first
    "vertical": "quantity",  # and along the second
    "head_feature": "feature",  # of all heads, one after the other
    "point": "category",  # named points of the forward pass
    "part": "category",  # what a model, a sum or a count is made of
    "way": "category",  # of taking a part out
    "tensor": "category",
    "parameter": "category",  # single weights
    "group": "category",  # of tokens
    "kind": "category",  # of questions or answers
    "rung": "category",
    "role": "category",  # what a head does
    "verdict": "category",
    "quantity": "category",  # things measured, each under its name
    "statistic": "category",  # numbers that sum up one thing: mean, low, high
    "rank": "rank",  # the first, the second, ...
    "cell": "category",  # of a study
    "run": "category",
    "model": "category",  # published ones
    "word": "category",  # of a text, whole or cut into tokens
    "optimiser": "category",
    "question": "category",
    "answer": "token",  # what is answered, beside the token that came
    "choice": "category",  # how a token is chosen: the likeliest, or drawn
    "distance": "quantity",
    "temperature": "quantity",
    "rate": "quantity",
    "frequency": "quantity",
    "share": "quantity",
    "size": "quantity",  # of a model
    "argument": "quantity",  # of a function, where it is a curve
}
AGAIN = ("query_", "key_", "other_")  # who looks, who is looked at, and the same axis a second time
POINTS = (*list(WHOLE)[:3], *PER_BLOCK, *list(WHOLE)[3:])  # in the order of the computation


def axes(name: str) -> tuple[str, ...]:
    """The axes of a point's array, after any batch axes (the position embedding never has those)."""
    return ("block", *PER_BLOCK[name]) if name in PER_BLOCK else WHOLE[name]


def kind(axis: str) -> str | None:
    """The kind of an axis: `token` of `token`, `key_token` and `other_token`; None: the glossary has no such axis."""
    plain = next((axis.removeprefix(again) for again in AGAIN if axis.startswith(again)), axis)
    return AXES.get(plain)
