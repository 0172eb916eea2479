// A run made in this page: it grows while it is trained, and is otherwise a run like any other.

import { spread } from "../learn/plan";
import type { Progress } from "../learn/protocol";
import { OpenRun } from "./open.svelte";
import type { Event, Examples, Facts, RunInfo, TaskInfo, TrainSettings, Weights } from "./source";
import { Trained } from "./trained";

/** What it began from. */
export interface Origin {
  run: OpenRun; // whose task, data and shape it has, and whose weights, if `params` are given
  params: Float32Array | null; // null: fresh ones from the seed
  step: number; // of those weights; 0 for fresh ones
  member: number; // of a population, whose they are
  edits: string; // how they were changed before, as edits are written, or ""
  sha256: string; // of those weights before they were changed, or ""
}

export class TrainedRun extends OpenRun {
  /** Asked for what is true at a step that no line was logged for. */
  wanted: (step: number) => void = () => {};
  readonly trained: Trained;
  saved = $state(false);
  step = $state(0); // how far it came
  private readonly few: Set<number> | null; // steps to keep where there is little room; null: all that training keeps
  private readonly passing: Passing;

  constructor(
    readonly origin: Origin,
    train: TrainSettings,
    card: { id: string; name: string },
    most: number | null = null,
  ) {
    const trained = new Trained();
    const passing = new Passing(trained);
    super(about(origin, train, card), trained.metrics, passing, origin.run.data);
    this.trained = trained;
    this.passing = passing;
    this.step = origin.step;
    this.few = most === null ? null : new Set(spread(origin.step, train.steps, most));
  }

  get train(): TrainSettings {
    return this.info.experiment.train;
  }

  /** What its folder is called when it is saved. */
  get folder(): string {
    const { info, origin } = this;
    return `${info.experiment.name}-${info.seeds[0]}-page${origin.params ? `-from_${origin.step}` : ""}`;
  }

  /** Whether more may come. */
  get growing(): boolean {
    return this.status === "running";
  }

  /** Take in what a training has to tell. */
  take(progress: Progress): void {
    const { trained, passing, few, info } = this;
    const status = progress.status === "paused" ? "running" : progress.status; // a pause is the tutor's, not the run's
    const over = status !== "running";
    const keeps = (step: number): boolean => !few || few.has(step) || (over && step === progress.step);
    const kept = progress.news.kept.filter((each) => keeps(each.step));
    const changed = progress.rates.length !== trained.rates.length;
    trained.add({ ...progress, news: { ...progress.news, kept } });
    passing.put(progress.step, progress.params);
    this.step = progress.step;
    this.steps = passing.steps;
    this.status = info.status = status;
    if (progress.news.lines.length) {
      this.metrics = trained.metrics;
      const known = new Set(trained.facts.map((each) => each.step));
      this.facts = [[...trained.facts, ...this.facts[0].filter((each) => !known.has(each.step))].sort(by_step)];
    }
    if (progress.news.lines.length || changed || over) this.events = this.happened(over);
    if (over) {
      info.last_step = progress.step;
      info.kept = trained.steps.length;
    }
  }

  /** End it where it is, as nobody trains it any more: the newest weights are kept. */
  cut(): void {
    const { trained, info } = this;
    if (!this.growing || !this.steps.length) return;
    if (trained.steps[trained.steps.length - 1] !== this.last) {
      trained.params.push(this.weights.at(this.last, 0));
      trained.steps.push(this.last);
    }
    this.status = info.status = trained.status = "stopped";
    info.last_step = this.step;
    info.kept = trained.steps.length;
    this.events = this.happened(true);
  }

  private happened(over: boolean): Event[] {
    const { trained, info } = this;
    const found = trained.events(info.ladder, info.task.exact);
    const told = (rate: number): string => `the rate is ${rate} from here on`;
    found.push(...trained.rates.map(([step, rate]): Event => ({ step, kind: "rate", text: told(rate) })));
    const { step, loss } = this.curve(0);
    let best = -1;
    step.forEach((at, k) => {
      if (Number.isFinite(loss[k]) && (best < 0 || loss[k] < loss[best]) && trained.steps.includes(at)) best = k;
    });
    if (over && best >= 0) found.push({ step: step[best], kind: "best", text: "the lowest loss kept" });
    return found.sort(by_step);
  }

  override past(): { step: number[]; loss: number[] } | null {
    const { run, params, step, member } = this.origin;
    if (!params) return null;
    const [older, own] = [run.past(), run.curve(member)];
    const many = own.step.filter((at) => at <= step).length;
    const both = (before: number[] = [], after: number[]): number[] => [...before, ...after.slice(0, many)];
    return { step: both(older?.step, own.step), loss: both(older?.loss, own.loss) };
  }

  /** What is true at a step; while that is being found out, what was true before. */
  override facts_at(step: number): Facts | null {
    const known = this.facts[0];
    let k = known.length - 1;
    while (k >= 0 && known[k].step > step) k--;
    if (known[k]?.step !== step) this.wanted(step);
    return known[k] ?? null;
  }

  /** What was found out about a step on request. */
  learnt(facts: Facts): void {
    this.facts = [[...this.facts[0].filter((each) => each.step !== facts.step), facts].sort(by_step)];
  }
}

/** The kept weights, and the newest ones until newer ones come. */
class Passing implements Weights {
  steps: number[] = [];
  private newest: { step: number; params: Float32Array } | null = null;

  constructor(private readonly trained: Trained) {}

  at(step: number): Float32Array {
    return this.newest?.step === step ? this.newest.params : this.trained.weights.at(step, 0);
  }

  put(step: number, params: Float32Array): void {
    const { steps } = this.trained;
    const kept = steps[steps.length - 1] === step;
    this.newest = kept ? null : { step, params };
    this.steps = kept ? [...steps] : [...steps, step];
  }
}

function by_step(a: { step: number }, b: { step: number }): number {
  return a.step - b.step;
}

/** What the page knows of a run that was just begun: as of the one it is made from, but for what is new. */
function about(origin: Origin, train: TrainSettings, { id, name }: { id: string; name: string }): RunInfo {
  const { run, params, step, edits, sha256 } = origin;
  const { info, data } = run;
  const { parent: _, ...rest } = info;
  return {
    ...rest,
    ...(params ? { parent: { run: run instanceof TrainedRun ? run.folder : info.name, step, sha256, edits } } : {}),
    id,
    name,
    status: "running",
    members: 1,
    experiment: { ...info.experiment, train },
    seeds: [train.seed],
    places: [0],
    last_step: step,
    steps: [],
    kept: 0,
    notice: "",
    floors: { ...info.floors, train: floor(data!.fit, info.task), validation: floor(data!.validation, info.task) },
    sentences: [],
    verdict: "",
    events: [],
    facts: [[]],
    analyses: [],
    engine: "page",
  };
}

/** What the exact predictor pays on some windows, nats per prediction that counts. */
function floor({ count, places, truth }: Examples, { skip }: TaskInfo): number {
  let [sum, many] = [0, 0];
  for (let k = 0; k < count; k++) {
    for (let place = places > 1 ? skip : 0; place < places; place++) {
      sum -= truth[k * places + place];
      many += 1;
    }
  }
  return sum / many;
}
