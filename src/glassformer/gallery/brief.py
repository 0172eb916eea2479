"""The figures whose titles, read one after the other, tell how a model does it."""

BRIEF = {
    "one_answer": "How it does it, on one input",
    "attention": "Where it looks",
    "head_roles": "Where it looks",
    "score_field": "What it looks for",
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
