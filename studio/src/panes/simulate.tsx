/** A path through the model: by hand or at random, as a table and as curves over time. */

import { computed, effect, signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { chooseTab } from "../commands";
import { type Asking, connection, troubleOf } from "../connection";
import { formatNumber, formatState, plural, toNumber } from "../format";
import type { Choice, Followed, SimRow, SimView, Trouble, Value } from "../protocol";
import { Outcome, Question, TroubleBox } from "../question";
import { activeModel, asked, diagnosis, given, givenToModel, missing, modelFile, ready } from "../state";
import { Icon } from "../ui/icons";
import { Plot, plotItems } from "../ui/plot";
import { Share } from "../ui/share";

const PATH = "path";
const rows = signal<readonly SimRow[]>([]);
const now = signal<SimView | null>(null);
const trouble = signal<Trouble | null>(null);
const working = signal(false);
/** The ask whose answer an export is of. */
const lastId = signal(0);
const playing = signal(false);
const seed = signal(1);
const strategy = signal("");
/** Which of several strategies is followed, from 1; 0 for one that is drawn, or the first corner. */
const chosenNumber = signal(0);
effect(() => {
  void modelFile.value; // the next model has other questions
  strategy.value = "";
  chosenNumber.value = 0;
});
/** The first step may take long: a strategy is found then. */
const starting = new Question("sim_start", "Beginning a path");
const shownAs = signal<"table" | "plot">("table");
/** The model that the path belongs to. */
const pathKey = signal("");
const modelKey = computed(() => JSON.stringify([modelFile.value, givenToModel.value, activeModel.value?.edits.value]));

function take(view: SimView): void {
  now.value = view;
  rows.value = [...rows.value.slice(0, view.from), ...view.rows];
  trouble.value = null;
}

type SimAsk = "sim_step" | "sim_back" | "sim_play";

/** The step that is being made. */
let current: Promise<void> = Promise.resolve();

/** Make a step. While another is being made, further ones are left out: they would be about a state not seen yet. */
function perform(run: () => Asking<SimAsk>): void {
  if (!working.value && !starting.running.value) current = make(run);
}

async function make(run: () => Asking<SimAsk>): Promise<void> {
  working.value = true;
  try {
    const asking = run();
    const view = await asking.done;
    take(view);
    lastId.value = asking.id;
  } catch (error) {
    playing.value = false;
    trouble.value = troubleOf(error);
  } finally {
    working.value = false;
  }
}

async function begin(state?: Record<string, Value>): Promise<void> {
  const model = modelFile.peek();
  if (!model || !ready.peek()) return;
  playing.value = false;
  const property = asked.peek().find((one) => one.key === strategy.peek())?.property;
  const constants = property ? given.peek() : givenToModel.peek();
  const key = modelKey.peek();
  await current;
  const view = await starting.ask({
    model,
    constants,
    path: PATH,
    seed: seed.peek(),
    ...(state ? { state } : {}),
    ...(property ? { strategy: property } : {}),
    ...(property && chosenNumber.peek() ? { number: chosenNumber.peek() } : {}),
  });
  if (!view && starting.running.peek()) return; // a newer one has taken its place
  // Without an answer nothing is left: the path from before would be that of another strategy.
  rows.value = [];
  now.value = null;
  trouble.value = null;
  pathKey.value = key;
  if (!view) return;
  take(view);
  lastId.value = starting.id.peek();
}

export async function simulateFrom(state: Record<string, Value>): Promise<void> {
  chooseTab("simulate");
  await begin(state);
}

const play = (steps: number) => perform(() => connection.ask("sim_play", { path: PATH, steps }));
const back = (steps: number) => perform(() => connection.ask("sim_back", { path: PATH, steps }));

export function SimulatePane() {
  const isPlaying = playing.value;
  useEffect(() => {
    if (ready.value && !now.value && !working.value && !starting.running.value) void begin();
  }, [ready.value]);
  useEffect(() => {
    if (!isPlaying) return;
    const timer = window.setInterval(() => {
      if (now.peek()?.deadlock) playing.value = false;
      else play(1);
    }, 350);
    return () => window.clearInterval(timer);
  }, [isPlaying]);
  if (!modelFile.value) return <p class="empty">Open a model first.</p>;
  if (missing.value.length > 0 && !now.value) {
    return (
      <p class="empty">
        A path needs values for all constants: <code>{missing.value.map((one) => one.name).join(", ")}</code>.
      </p>
    );
  }
  const view = now.value;
  const old = view !== null && pathKey.value !== modelKey.value;
  return (
    <div class="stack fill">
      <div class="toolbar">
        <button type="button" class={old ? "button primary" : "button"} onClick={() => void begin()}>
          <Icon name="restart" /> {old ? "Start again: the model has changed" : "Start again"}
        </button>
        <button
          type="button"
          class="button icon"
          aria-label="One step back"
          title="One step back"
          disabled={!view || view.length < 2}
          onClick={() => back(1)}
        >
          <Icon name="back" />
        </button>
        <button
          type="button"
          class="button"
          disabled={!view}
          aria-pressed={isPlaying}
          onClick={() => (playing.value = !isPlaying)}
        >
          <Icon name={isPlaying ? "pause" : "play"} /> {isPlaying ? "Pause" : "Play"}
        </button>
        {[1, 10, 100].map((steps) => (
          <button
            type="button"
            key={steps}
            class="button"
            disabled={!view || view.deadlock}
            onClick={() => play(steps)}
          >
            +{steps}
          </button>
        ))}
        <label class="labelled">
          Seed
          <input
            class="field mono number"
            type="number"
            min={0}
            value={seed.value}
            onInput={(event) => (seed.value = event.currentTarget.valueAsNumber || 0)}
          />
        </label>
        <span class="end" />
        <Share
          what="the path"
          copied={view?.copied}
          of={lastId.value}
          formats={["csv", "json", "pdf"]}
          more={shownAs.value === "plot" ? plotItems("path-plot", "path") : []}
        />
      </div>
      <Strategy view={view} />
      <Outcome question={starting} />
      {trouble.value && <TroubleBox trouble={trouble.value} />}
      {view && (
        <>
          <Choices view={view} />
          <div class="toolbar">
            <span class="muted small">{plural(view.length - 1, "step")}</span>
            {(["table", "plot"] as const).map((how) => (
              <button
                type="button"
                key={how}
                class="button"
                aria-pressed={shownAs.value === how}
                onClick={() => (shownAs.value = how)}
              >
                {how === "table" ? "Table" : "Plot"}
              </button>
            ))}
          </div>
          {shownAs.value === "table" ? <Trace view={view} /> : <TracePlot view={view} />}
        </>
      )}
    </div>
  );
}

/** Questions that have a best strategy. */
const STRATEGIC = /^\s*(?:"[^"]*"\s*:)?\s*(?:[PRTS](?:\s*\{[^}]*\})?(?:min|max|\s*[<>=])|multi\s*\()/;

/** For models with choices: who makes them. */
function Strategy({ view }: { view: SimView | null }) {
  if (diagnosis.value?.type !== "mdp") return null;
  const fitting = asked.value.filter((one) => one.needs.length === 0 && STRATEGIC.test(one.text));
  const followed = view?.strategy;
  return (
    <div class="row">
      <label class="labelled">
        Choices are made
        <select
          class="field"
          value={strategy.value}
          onChange={(event) => {
            strategy.value = event.currentTarget.value;
            chosenNumber.value = 0;
            void begin();
          }}
        >
          <option value="">each as likely as the others</option>
          {fitting.map((one) => (
            <option key={one.key} value={one.key}>
              by the best strategy for {one.name ?? one.text}
            </option>
          ))}
        </select>
      </label>
      {followed && followed.all.length > 1 && <Several followed={followed} />}
      {followed && followed.memory !== null && <span class="small muted">It remembers {followed.memory}.</span>}
    </div>
  );
}

/** Several strategies answer the question together; a path follows one of them. */
function Several({ followed }: { followed: Followed }) {
  const drawn = followed.all.every((one) => one.share !== null);
  return (
    <label class="labelled">
      Strategy
      <select
        class="field"
        aria-label="Strategy"
        value={drawn ? chosenNumber.value : followed.number}
        onChange={(event) => {
          chosenNumber.value = Number(event.currentTarget.value);
          void begin();
        }}
      >
        {drawn && (
          <option value={0}>
            by chance{chosenNumber.value ? "" : `: ${followed.number} of ${followed.all.length}`}
          </option>
        )}
        {followed.all.map(({ words, share }, i) => (
          <option key={i} value={i + 1}>
            {i + 1}
            {share !== null && ` (probability ${formatNumber(share, 4)})`}
            {words && `: ${words}`}
          </option>
        ))}
      </select>
    </label>
  );
}

function Choices({ view }: { view: SimView }) {
  const last = rows.value.at(-1);
  return (
    <section class="box" aria-label="What can happen next">
      <h3>
        Now: <code>{last ? formatState(view.variables, last.values) : ""}</code>
      </h3>
      {view.deadlock && <p class="muted">Nothing can happen any more: this state is a deadlock.</p>}
      {view.strategy && view.choices.length > 1 && view.choices.every((one) => one.chosen === null) && (
        <p class="muted small">
          The strategy says nothing here: what follows does not matter to its question, or the path went another way.
        </p>
      )}
      <ul class="steps">
        {view.choices.map((choice) => (
          <li key={choice.choice}>
            {view.choices.length > 1 && <ChoiceHead choice={choice} />}
            {choice.successors.map((one, i) => (
              <button
                type="button"
                key={i}
                class={`step ${choice.chosen !== null && toNumber(choice.chosen) > 0 ? "by-strategy" : ""}`}
                onClick={() =>
                  perform(() => connection.ask("sim_step", { path: PATH, choice: choice.choice, successor: i }))
                }
              >
                <span class="step-number">{formatNumber(one.number, 4)}</span>
                {view.choices.length === 1 && choice.action && <span class="badge">{choice.action}</span>}
                <code>
                  {Object.keys(one.changes).length
                    ? formatState(Object.keys(one.changes), Object.values(one.changes))
                    : "nothing changes"}
                </code>
              </button>
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

function ChoiceHead({ choice }: { choice: Choice }) {
  return (
    <p class="small">
      Choice {choice.choice + 1} {choice.action && <span class="badge">{choice.action}</span>}
      {choice.chosen !== null && toNumber(choice.chosen) > 0 && (
        <span class="good">
          {" "}
          <Icon name="check" /> the strategy takes it
          {toNumber(choice.chosen) < 1 && ` with probability ${formatNumber(choice.chosen, 4)}`}
        </span>
      )}
    </p>
  );
}

/** The last rows of a long path; an export has all. */
const MOST = 400;

function Trace({ view }: { view: SimView }) {
  const frame = useRef<HTMLDivElement>(null);
  const list = rows.value.slice(-MOST);
  useEffect(() => {
    frame.current?.scrollTo({ top: frame.current.scrollHeight });
  }, [rows.value.length]);
  return (
    <div class="table-frame trace" ref={frame} role="region" aria-label="Steps of the path" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">step</th>
            {view.timed && <th scope="col">time</th>}
            <th scope="col">action</th>
            {view.variables.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            {view.rewards.map((name) => (
              <th key={`reward ${name}`} scope="col">
                {name ? `reward ${name}` : "reward"}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {list.map((row, i) => {
            const before = i > 0 ? list[i - 1] : undefined;
            return (
              <tr key={row.step}>
                <td>{row.step}</td>
                {view.timed && <td>{formatNumber(row.time, 5)}</td>}
                <td>{row.action ?? ""}</td>
                {row.values.map((value, k) => (
                  <td key={view.variables[k]} class={before && before.values[k] !== value ? "changed" : ""}>
                    {formatNumber(value)}
                  </td>
                ))}
                {row.rewards.map((value, k) => (
                  <td key={`reward ${view.rewards[k]}`}>{formatNumber(value, 5)}</td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function TracePlot({ view }: { view: SimView }) {
  const hidden = useSignal<ReadonlySet<string>>(new Set());
  const list = rows.value;
  const x = list.map((row) => (view.timed ? (row.time ?? 0) : row.step));
  const columns = [
    ...view.variables.map((name, k) => ({ name, y: list.map((row) => toNumber(row.values[k] ?? null)) })),
    ...view.rewards.map((name, k) => ({
      name: name ? `reward ${name}` : "reward",
      y: list.map((row) => toNumber(row.rewards[k] ?? null)),
    })),
  ];
  const data = columns
    .filter((column) => !hidden.value.has(column.name))
    .map((column) => ({
      type: "scatter",
      mode: "lines",
      name: column.name,
      x,
      y: column.y,
      line: { shape: "hv", width: 2 },
    }));
  return (
    <>
      <div class="choices">
        {columns.map((column) => (
          <label key={column.name} class="labelled">
            <input
              type="checkbox"
              checked={!hidden.value.has(column.name)}
              onChange={() => {
                const next = new Set(hidden.value);
                if (!next.delete(column.name)) next.add(column.name);
                hidden.value = next;
              }}
            />
            <code>{column.name}</code>
          </label>
        ))}
      </div>
      <Plot id="path-plot" data={data} x={view.timed ? "time" : "step"} label="Variables along the path" />
    </>
  );
}
