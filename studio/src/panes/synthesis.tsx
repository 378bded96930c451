/** Synthesis: the space of parameters, divided into boxes with proved bounds, while it is being refined. */

import { computed, signal } from "@preact/signals";
import { formatNumber, formatSeconds, plural, sentence, toNumber } from "../format";
import type { Boxes, ConstantInfo } from "../protocol";
import { Outcome, Question } from "../question";
import { asked, constants, diagnosis, given, modelFile } from "../state";
import { Icon } from "../ui/icons";
import { Share } from "../ui/share";
import { Tabs } from "../ui/tabs";
import { ParetoView } from "./pareto";
import { type AskedPoint, RegionsView } from "./regions";

type Goal = "threshold" | "maximise" | "minimise" | "values";

const synth = new Question("synth", "Refining regions");
const pointQuestion = new Question("synth_at", "Asking at a point");
const ranges = signal<Readonly<Record<string, { low: string; high: string }>>>({});
const chosenProperty = signal("");
const ownText = signal("");
const goal = signal<Goal>("threshold");
const tolerance = signal("0.02");
const problem = signal<string | null>(null);
export const boxes = signal<Boxes | null>(null);
export const askedPoints = signal<readonly AskedPoint[]>([]);
const view = signal<"regions" | "pareto">("regions");

const parameters = computed(() => (diagnosis.value?.constants ?? []).filter((one) => one.type === "double"));
const picked = computed(() =>
  Object.keys(ranges.value).filter((name) => parameters.value.some((one) => one.name === name)),
);
const candidates = computed(() =>
  asked.value.filter((one) => one.needs.every((name) => picked.value.includes(name)) && !one.info?.multi),
);

function property() {
  if (chosenProperty.value === "own") return ownText.value.trim() ? { text: ownText.value.trim() } : null;
  return (candidates.value.find((one) => one.key === chosenProperty.value) ?? candidates.value[0])?.property ?? null;
}

function chosenKey(): string {
  if (chosenProperty.value === "own" || candidates.value.some((one) => one.key === chosenProperty.value))
    return chosenProperty.value;
  return candidates.value[0]?.key ?? "own";
}

/** The goal that fits the text: a threshold where there is one. */
function fits(text: string): Goal {
  return /=\s*\?/.test(text) ? (goal.value === "threshold" ? "values" : goal.value) : "threshold";
}

async function refine(): Promise<void> {
  const model = modelFile.value;
  const what = chosenKey() === "own" ? (ownText.value.trim() ? { text: ownText.value.trim() } : null) : property();
  problem.value = null;
  if (!model) return;
  if (picked.value.length === 0) problem.value = "Choose a parameter and its range.";
  else if (!what) problem.value = "Choose a property.";
  if (problem.value || !what) return;
  const space: Record<string, [number, number]> = {};
  for (const name of picked.value) {
    const { low, high } = ranges.value[name]!;
    if (!(Number(low) < Number(high))) {
      problem.value = `The range of ${name} needs two numbers, the lesser first.`;
      return;
    }
    space[name] = [Number(low), Number(high)];
  }
  const text = "text" in what ? what.text : (asked.value.find((one) => one.property === what)?.text ?? "");
  const fixed = Object.fromEntries(Object.entries(given.value).filter(([name]) => !picked.value.includes(name)));
  boxes.value = null;
  askedPoints.value = [];
  synth.clear();
  pointQuestion.clear();
  const result = await synth.ask(
    {
      model,
      property: what,
      parameters: space,
      constants: fixed,
      goal: fits(text),
      tolerance: Number(tolerance.value) || 0.02,
    },
    (part) => {
      boxes.value = part;
    },
  );
  if (result) boxes.value = result;
}

export async function askAt(at: number[]): Promise<void> {
  const model = modelFile.value;
  const now = boxes.value;
  const what = chosenKey() === "own" ? { text: ownText.value.trim() } : property();
  if (!model || !now || !what) return;
  const point = Object.fromEntries(now.parameters.map((name, i) => [name, at[i]!]));
  const fixed = Object.fromEntries(Object.entries(given.value).filter(([name]) => !(name in point)));
  const result = await pointQuestion.ask({ model, property: what, point, constants: fixed });
  if (result) askedPoints.value = [...askedPoints.value, { at, ...result }];
}

export function SynthesisPane() {
  if (!modelFile.value) return <p class="empty">Open a model first.</p>;
  return (
    <div class="stack">
      <Tabs
        name="synth"
        label="Kinds of synthesis"
        className="pills"
        chosen={view.value}
        onChoose={(id) => (view.value = id as typeof view.value)}
        tabs={[
          { id: "regions", title: "Regions of parameters" },
          { id: "pareto", title: "Pareto fronts" },
        ]}
      />
      <div id="panel-synth" role="tabpanel" aria-labelledby={`tab-synth-${view.value}`} class="stack">
        {view.value === "regions" ? <Regions /> : <ParetoView />}
      </div>
    </div>
  );
}

export function showPareto(): void {
  view.value = "pareto";
}

function Regions() {
  if (parameters.value.length === 0) {
    return (
      <p class="empty">
        Regions need a parameter: a constant of type <code>double</code> that the text leaves open, such as{" "}
        <code>const double p;</code>. The gallery’s “sir” and “tandem” have some.
      </p>
    );
  }
  const result = synth.result.value;
  const key = chosenKey();
  const text = key === "own" ? ownText.value : (candidates.value.find((one) => one.key === key)?.text ?? "");
  const numeric = /=\s*\?/.test(text);
  return (
    <>
      <fieldset class="box">
        <legend>Parameters, one to three</legend>
        {parameters.value.map((one) => (
          <RangeRow key={one.name} info={one} />
        ))}
      </fieldset>
      <fieldset class="box">
        <legend>Property</legend>
        <div class="row">
          <select
            class="field grow"
            aria-label="Property"
            value={key}
            onChange={(event) => (chosenProperty.value = event.currentTarget.value)}
          >
            {candidates.value.map((one) => (
              <option key={one.key} value={one.key}>
                {one.name ? `${one.name}: ` : ""}
                {one.text}
              </option>
            ))}
            <option value="own">type one …</option>
          </select>
          {numeric && (
            <select
              class="field"
              aria-label="Goal"
              value={fits(text)}
              onChange={(event) => (goal.value = event.currentTarget.value as Goal)}
            >
              <option value="values">show all values</option>
              <option value="maximise">find the greatest</option>
              <option value="minimise">find the least</option>
            </select>
          )}
          <label class="labelled">
            {numeric && fits(text) === "values" ? "Accuracy" : "Tolerance"}
            <input
              class="field mono number"
              value={tolerance.value}
              onInput={(event) => (tolerance.value = event.currentTarget.value)}
            />
          </label>
        </div>
        {key === "own" && (
          <input
            class="field mono wide"
            placeholder={'P>=0.5 [ F<=10 "done" ]'}
            aria-label="Property in words of the language"
            spellcheck={false}
            value={ownText.value}
            onInput={(event) => {
              ownText.value = event.currentTarget.value;
              chosenProperty.value = "own";
            }}
          />
        )}
      </fieldset>
      <div class="toolbar">
        <button type="button" class="button primary" disabled={synth.running.value} onClick={() => void refine()}>
          <Icon name="play" /> Refine
        </button>
        {problem.value && (
          <span class="bad" role="alert">
            {problem.value}
          </span>
        )}
        <span class="end" />
        <Share
          what="the regions"
          copied={result?.copied}
          of={result ? synth.id.value : null}
          formats={["csv", "json", "png", "svg", "pdf", "html"]}
        />
      </div>
      <Outcome question={synth} />
      {boxes.value && <Summary boxes={boxes.value} />}
      {result && !synth.running.value && (
        <p class="small muted">
          {sentence(result.words)} It took {formatSeconds(result.seconds)}.
        </p>
      )}
      {boxes.value && <RegionsView boxes={boxes.value} points={askedPoints.value} onAsk={(at) => void askAt(at)} />}
      <Outcome question={pointQuestion} />
    </>
  );
}

function Summary({ boxes: now }: { boxes: Boxes }) {
  const threshold = now.boxes.some(
    (box) => box.verdict === "true" || box.verdict === "false" || box.verdict === "undecided",
  );
  return (
    <p class="small" role="status">
      {plural(now.boxes.length, "box", "boxes")}
      {threshold && `, ${formatNumber(100 * now.decided, 4)} % decided`}
      {now.optimum && `, the best is between ${formatNumber(now.optimum[0])} and ${formatNumber(now.optimum[1])}`}
      {now.best && ` at ${now.parameters.map((name, i) => `${name}=${formatNumber(now.best!.point[i]!)}`).join(", ")}`}
    </p>
  );
}

function RangeRow({ info }: { info: ConstantInfo }) {
  const range = ranges.value[info.name];
  const value = toNumber(constants.value[info.name] ?? "");
  const start = Number.isFinite(value) && value > 0 ? value : 0.5;
  const suggestion = {
    low: String(Number((start / 2).toPrecision(3))),
    high: String(Number((start <= 1 ? Math.min(1, start * 1.5) : start * 1.5).toPrecision(3))),
  };
  const flip = () => {
    if (!range) ranges.value = { ...ranges.value, [info.name]: suggestion };
    else {
      const { [info.name]: _, ...rest } = ranges.value;
      ranges.value = rest;
    }
  };
  return (
    <div class="sweep">
      <label class="labelled">
        <input type="checkbox" checked={!!range} disabled={!range && picked.value.length >= 3} onChange={flip} />
        <code>{info.name}</code>
      </label>
      {range &&
        (["low", "high"] as const).map((end) => (
          <label key={end} class="labelled">
            {end === "low" ? "from" : "to"}
            <input
              class="field mono number"
              aria-label={`${info.name} ${end === "low" ? "from" : "to"}`}
              value={range[end]}
              onInput={(event) =>
                (ranges.value = { ...ranges.value, [info.name]: { ...range, [end]: event.currentTarget.value } })
              }
            />
          </label>
        ))}
      {!range && (
        <span class="muted small">
          {info.defined
            ? `is ${info.default}`
            : constants.value[info.name]
              ? `is ${constants.value[info.name]}`
              : "has no value yet"}
        </span>
      )}
    </div>
  );
}
