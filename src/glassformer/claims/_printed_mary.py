"""What the source prints of its rhyme, its small networks and its training: constants, as they stand there."""

LOSSES = {0: 3.7665, 300: 0.4061, 600: 0.3361, 900: 0.2343, 1200: 0.2704, 1499: 0.2198}  # of one batch each
SAMPLES = (
    "mary went <END> the lamb was sure to go <END> it followed her to school one",
    "mary went <END> mary went mary went <END> everywhere that mary went <END>",
    "the rules <END> it made the children laugh and play <END> laugh and",
    "it made the children laugh and play <END> to see a lamb at",
    "little lamb <END> mary had a little lamb <END> its fleece was white",
    "lamb <END> its fleece was white as snow <END> and everywhere that mary",
)
WINDOWS = ("mary had a little lamb <END>", "lamb little lamb mary had a", "mary had a little lamb whose")
PAIRS = (("lamb", "fleece"), ("mary", "went"), ("school", "rules"))  # words that would become alike
INPUTS, TARGET, RATE = (0.8, 0.2), 1.0, 0.1
HIDDEN = ((0.5, 0.3, 0.1), (-0.2, 0.8, -0.1))  # two weights and a bias of each neuron
OUTPUT = (0.7, 0.4, 0.05)
DESCENT = (0.0, 0.6, 1.08, 1.464, 1.7712, 2.0170, 2.2136, 2.3709, 2.4967)  # weights of eight steps from 0
DESCENT_LOSS = (9.0, 5.76, 3.6864, 2.3593, 1.5099, 0.9664, 0.6185, 0.3958, 0.2533)
MOUNTAIN = """
    Loss ↑                    You are here! 🧑
         │                          ●
      4  │                        ╱   ╲
         │                      ╱       ╲
      3  │                    ╱           ╲    Gradient says "go RIGHT"
         │                  ╱               ╲   (points uphill)
      2  │                ╱                   ╲
         │              ╱                       ╲
      1  │            ╱                           ╲
         │          ╱         THE VALLEY           ╲
      0  │        ●────────────(goal!)──────────────●────► Weight
         └───────────────────────────────────────────────
               1       2       3       4       5
                           ↑
                    Optimal weight = 3
"""  # its drawing
PREDICTIONS = {0: 0.5456, 2: 0.7946, 4: 0.9066, 6: 0.9579, 8: 0.9812, 9: 0.9874}  # by epoch
ATTENTION = (
    ((0.228, 0.322, 0.450), (0.404, 0.254, 0.341), (0.344, 0.354, 0.302)),
    ((0.241, 0.415, 0.344), (0.304, 0.244, 0.453), (0.526, 0.241, 0.233)),
)  # of two heads: mary, had and a look at mary, had and a
ROWS = (32, 28, 13)  # of mary, had and a in the embedding that was drawn
NUMBERED = {"mary": 32, "had": 28, "a": 13}
