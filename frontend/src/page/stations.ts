// The places of the stream that can be read out, and what a link calls them.

import type { Architecture } from "../model/architecture";

/** A place of the stream that can be read out. */
export interface Station {
  point: string;
  block: number | null;
}

/** Where the stream stands after embedding, after each attention and after each feed-forward part. */
export function stations(a: Architecture): Station[] {
  const post = a.norm_place === "post" && a.norm !== "none";
  const found: Station[] = [{ point: "embedded", block: null }];
  for (let block = 0; block < a.blocks; block++) {
    if (a.attention !== "off") found.push({ point: post ? "normed_1" : "middle", block });
    if (a.feed_forward) found.push({ point: post ? "normed_2" : "out", block });
  }
  return found;
}

/** What the link calls a station: `middle 0`. */
export function station_name({ point, block }: Station): string {
  return block === null ? point : `${point} ${block}`;
}
