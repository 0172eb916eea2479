// What a gradient is asked of: the loss on the input that is shown, or one logit.

import { counted } from "../model/counted";
import type { View } from "../panels/panel";
import { truth } from "../task/truth";
import { read_at } from "./chances";
import { read_logit } from "./link";
import { answer, at } from "./saying";
import { t } from "../words/words.svelte";

export interface Toward {
  targets: Int32Array | null; // of the loss: what should be answered at each position, −1: nothing
  logit: readonly [number, number] | null;
  said: string; // what is asked about, in a sentence
}

/** What `page.toward` asks of a view: a logit, or the loss, also where the input has no such logit. */
export function toward(text: string, view: View): Toward {
  const logit = read_logit(text);
  if (logit && logit[0] < view.trace.tokens.length && logit[1] < view.run.architecture.outputs) {
    const [position, token] = logit;
    const said = t("toward.logit", { answer: answer(view, token), place: t("cell.at", at(view, position)) });
    return { targets: null, logit, said };
  }
  return of_loss(view);
}

function of_loss(view: View): Toward {
  const { info, architecture: a } = view.run;
  const { tokens } = view.trace;
  const last = only_answer(view);
  const window = Int32Array.from([...tokens, last ?? -1]);
  const targets = counted(window, a, tokens.length, info.task.skip);
  const n = targets.reduce((many, target) => many + (target < 0 ? 0 : 1), 0);
  const one = info.task.answers === "one";
  const rule = last === null ? "" : answer(view, last);
  const none = one ? "toward.open" : "toward.nothing";
  const some = one ? "toward.one" : rule ? "toward.next_rule" : "toward.next";
  return { targets: n ? targets : null, logit: null, said: t(n ? some : none, { n, rule }) };
}

/** The one token that the rule allows after the input; null where it leaves a choice or says nothing. */
function only_answer(view: View): number | null {
  const { info, architecture, data } = view.run;
  const judge = truth(info.task, architecture, data);
  const { tokens } = view.trace;
  if (!judge.known) return null;
  const last = tokens.length - 1;
  if (!judge.constrained(tokens)[last]) return null;
  const size = info.task.vocabulary.length;
  const row = judge.allowed(tokens).subarray(last * size, (last + 1) * size);
  const only = row.indexOf(1);
  return only >= 0 && only < architecture.outputs && row.lastIndexOf(1) === only ? only : null;
}

/** Logits worth asking about: the likeliest answers after a position. */
export function logits_of(view: View, position: number, most = 6): { position: number; token: number }[] {
  const { data, shape } = view.trace.points.logits;
  const where = read_at(view.run.architecture, view.trace.tokens.length, position);
  const row = data.subarray(where * shape[1], (where + 1) * shape[1]);
  const order = [...row.keys()].sort((one, other) => row[other] - row[one] || one - other);
  return order.slice(0, most).map((token) => ({ position: where, token }));
}
