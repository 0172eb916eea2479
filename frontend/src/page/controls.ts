// What a teacher can take off the page, by name: `hide=speed,jump` in a link. Hiding is for calm, not for secrecy.

export const CONTROLS = ["modes", "tools", "runs", "play", "steps", "speed", "jump", "train", "input", "examples", "temperature", "next", "edits", "panels", "look", "menus"] as const;
