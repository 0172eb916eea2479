// What the first screen does not need: it follows as soon as that stands, and in a worker at once.

import type { Panel } from "./panels/panel";
import { add } from "./page/jobs";
import { more } from "./page/more_jobs";

export { digest, folder } from "./data/folder";
export { download, save } from "./page/saving";
export { Teaching } from "./page/teaching.svelte";
export { default as Card } from "./parts/Card.svelte";
export { default as Change } from "./parts/Change.svelte";
export { default as Compare } from "./parts/Compare.svelte";
export { default as ForClass } from "./parts/ForClass.svelte";
export { default as Help } from "./parts/Help.svelte";
export { default as InForce } from "./parts/InForce.svelte";
export { default as Leading } from "./parts/Leading.svelte";
export { default as Lesson } from "./parts/Lesson.svelte";
export { default as Predict } from "./parts/Predict.svelte";
export { default as Train } from "./parts/Train.svelte";

/** Every panel: the folder is the list. */
export const panels: Panel[] = Object.values(import.meta.glob<Panel>("./panels/*.svelte", { eager: true }));

add(more);
