// The panels of the first screen, which are there at once; all others follow with further.ts, for which the folder is the list.

import type { Panel } from "./panel";

const found = import.meta.glob<Panel>(["./Embedding.svelte", "./QueryKey.svelte", "./Attention.svelte", "./Residual.svelte"], { eager: true });

export const panels: Panel[] = Object.values(found);
