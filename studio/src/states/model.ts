/** The state space that is looked at: what was built, which state is chosen, what is coloured and found. */

import { computed, effect, signal, untracked } from "@preact/signals";
import { formatNumber, toNumber } from "../format";
import type { SetKind, StatesOf, Value } from "../protocol";
import { Question } from "../question";
import { activeModel, asked, given, givenToModel, modelFile, ready } from "../state";
import { classColour, inkOn, scaleColour, scaleRgb } from "./colours";
import type { Paint } from "./graph-view";

export const build = new Question("build", "Building the model");
export const graph = new Question("graph", "Reading the graph");
export const values = new Question("values", "Finding values");
export const sets = new Question("sets", "Looking for sets");
export const oneState = new Question("state", "Looking at a state");
export const search = new Question("states", "Searching", "search");
export const matrix = new Question("matrix", "Drawing the matrix");

export const chosen = signal<number | null>(null);
/** "" for nothing, "value:KEY" for a property, otherwise the kind of a set (with ":KEY" for prob0 and prob1). */
export const colouring = signal("");
export const where = signal("");
export const found = signal<ReadonlySet<number> | null>(null);

export const statesOf = computed<StatesOf | null>(() =>
  modelFile.value ? { model: modelFile.value, constants: givenToModel.value } : null,
);
/** Changes when the model does: everything below has to be asked again. */
export const modelKey = computed(() => JSON.stringify([statesOf.value, activeModel.value?.edits.value]));

/** The model that was built last, as a key. */
export const builtKey = signal("");
let builtFile = "";
export const stale = computed(() => builtKey.value !== "" && builtKey.value !== modelKey.value);

export async function buildNow(graphLimit: number): Promise<void> {
  const of = statesOf.peek();
  if (!of || !ready.peek()) return;
  const key = modelKey.peek();
  graph.clear();
  if (of.model !== builtFile) {
    // What was looked for in another model has no meaning here.
    where.value = "";
    colouring.value = "";
    search.clear();
    builtFile = of.model;
  }
  const result = await build.ask(of);
  if (!result) return;
  chosen.value = null;
  found.value = null;
  matrix.clear();
  builtKey.value = key;
  if (result.model.states <= graphLimit) await graph.ask(of);
}

export async function choose(state: number | null): Promise<void> {
  chosen.value = state;
  const of = statesOf.peek();
  if (state === null || !of) return;
  await oneState.ask({ ...of, state });
}

export async function searchNow(limit: number): Promise<void> {
  const of = statesOf.peek();
  const text = where.peek().trim();
  if (!of) return;
  if (!text) {
    found.value = null;
    search.clear();
    return;
  }
  const result = await search.ask({ ...of, from: 0, count: limit, where: text });
  if (result) found.value = new Set(result.rows.map((row) => row.state));
}

/** Ask for what the chosen colouring needs. */
export async function colourNow(): Promise<void> {
  const of = statesOf.peek();
  const [kind, key] = colouring.peek().split(/:(.*)/s) as [string, string | undefined];
  if (!of || !kind) return;
  const property = asked.peek().find((one) => one.key === key)?.property;
  if (kind === "value") {
    if (property) await values.ask({ ...of, constants: given.peek(), property });
  } else if (property) await sets.ask({ ...of, constants: given.peek(), kind: kind as SetKind, property });
  else await sets.ask({ ...of, kind: kind as SetKind });
}

effect(() => {
  if (builtKey.value && colouring.value && !stale.value) untracked(() => void colourNow());
});

/** How the graph is painted: null while there is nothing to show. */
export const paint = computed<Paint | null>(() => {
  const states = graph.result.value?.states;
  if (!states) return null;
  // In small models a state is told by its values, where these are short.
  const tuples = states.map((state) => state.values.map((value) => formatNumber(value)).join(","));
  const short = states.length <= 60 && tuples.every((text) => text.length <= 6);
  const label = (state: number) => (short ? tuples[state]! : String(state));
  const [kind] = colouring.value.split(":");
  if (kind === "value" && values.result.value) {
    const { values: list, least, greatest } = values.result.value;
    const part = (state: number) => valuePart(list[state] ?? null, toNumber(least), toNumber(greatest));
    return {
      fill: (state) => (Number.isNaN(part(state)) ? null : scaleColour(part(state))),
      ink: (state) => inkOn(scaleRgb(part(state))),
      label: (state) => (states.length > 150 ? label(state) : `${formatNumber(list[state] ?? null, 3)}`),
    };
  }
  const numbers = sets.result.value?.numbers;
  if (kind && kind !== "value" && numbers && sets.result.value?.kind === kind) {
    const most = Math.max(1, ...numbers);
    if (kind === "distance") {
      return {
        fill: (state) => ((numbers[state] ?? -1) < 0 ? null : scaleColour(numbers[state]! / most)),
        ink: (state) => inkOn(scaleRgb(numbers[state]! / most)),
        label: (state) => String(numbers[state]),
      };
    }
    const inside = (state: number) =>
      kind === "prob0" || kind === "prob1" ? numbers[state] === 1 : (numbers[state] ?? -1) >= 0;
    return {
      fill: (state) => (inside(state) ? classColour(kind === "prob0" || kind === "prob1" ? 1 : numbers[state]!) : null),
      ink: () => "#111111",
      label,
    };
  }
  return { fill: () => null, ink: () => "#111111", label };
});

function valuePart(value: Value | null, least: number, greatest: number): number {
  if (typeof value === "boolean") return value ? 1 : 0;
  const number = toNumber(value);
  if (Number.isNaN(number)) return Number.NaN;
  if (number === Number.POSITIVE_INFINITY) return 1;
  if (!(greatest > least)) return 0.5;
  return (number - least) / (greatest - least);
}
