// The folder is the list: a component put here is a panel.

import type { Panel } from "./panel";

const found = import.meta.glob<Panel>("./*.svelte", { eager: true });

export const panels: Panel[] = Object.values(found).sort((one, other) => one.about.order - other.about.order);
