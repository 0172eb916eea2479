"""The story that the figures of a run tell: its sections, their lead-ins, and the figures that tell it in brief."""

SECTIONS = {
    "primer": "Before the transformer",
    "what": "What is it?",
    "learn": "Did it learn?",
    "know": "What does it know?",
    "attend": "How does it attend?",
    "decide": "How does it decide?",
    "path": "How did it get there?",
    "health": "Is it healthy?",
    "trust": "How sure are we?",
}
LEADS = {
    "primer": "The parts that every network is made of, with numbers small enough to follow by hand.",
    "what": "The parts of the model and the data it sees.",
    "learn": "How wrong it was, how wrong it is, and how much of that no model could avoid.",
    "know": "Every token and every position is a point. Where they stand is what it knows before it looks around.",
    "attend": "Each position asks with a query, those it may see answer with their keys. A query times a key is a "
    "score, and the scores of a position become shares of its attention that add up to 1.",
    "decide": "Attention adds what it found to the point, the feed-forward part adds its own, and the read-out turns "
    "where the point ends into a probability for every token.",
    "path": "The same numbers over the whole of training.",
    "health": "Whether training itself went as it should.",
    "trust": "How far these numbers would move with other data or another seed.",
}
BRIEF = {  # the figures whose titles, read one after the other, tell how the model does it
    "one_answer": "How it does it, on one input",
    "attention": "Where it looks",
    "head_roles": "Where it looks",
    "query_focus": "What it looks for",
    "query_key_space": "What it looks for",
    "mixing": "What it takes from there",
    "residual": "How that moves the point",
    "logit_lens": "What the feed-forward does",
    "readout": "What it answers",
    "rule_error": "How often it is wrong",
    "every_question": "How often it is wrong",
    "ablation": "What it cannot do without",
    "timeline": "How it got there",
}
