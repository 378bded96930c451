/** Experiments: properties over ranges of constants, drawn as curves while the points come in. */

import { computed, signal } from "@preact/signals";
import { formatNumber, isNum, plural, toNumber } from "../format";
import type { ConstantInfo, Num, Property, Value } from "../protocol";
import { Outcome, Question } from "../question";
import { asked, constants, diagnosis, given, modelFile, options } from "../state";
import { Icon } from "../ui/icons";
import { Plot, plotItems, SERIES } from "../ui/plot";
import { Share } from "../ui/share";
import { TableView } from "../ui/table";

interface Sweep {
  from: string;
  step: string;
  to: string;
}

interface Curve {
  name: string;
  x: number[];
  y: (number | null)[];
  lower: (number | null)[];
  upper: (number | null)[];
}

const experiment = new Question("experiment", "Drawing curves");
const sweeps = signal<Readonly<Record<string, Sweep>>>({});
const left = signal<ReadonlySet<string>>(new Set()); // properties that are left out
const plan = signal<{ constants: string[]; properties: string[]; rows: number } | null>(null);
const curves = signal<readonly Curve[]>([]);
const rows = signal(0);
const problem = signal<string | null>(null);

const swept = computed(() => Object.keys(sweeps.value).filter((name) => open.value.some((one) => one.name === name)));
const open = computed(() => (diagnosis.value?.constants ?? []).filter((one) => !one.defined && one.type !== "bool"));
/** Properties that can be drawn once the swept constants have values. */
const drawable = computed(() =>
  asked.value.filter((one) => one.needs.every((name) => swept.value.includes(name)) && !one.info?.multi),
);

function suggest(info: ConstantInfo): Sweep {
  const now = toNumber(constants.value[info.name] ?? "");
  if (info.type === "int") {
    const most = Number.isFinite(now) ? Math.max(6, 2 * now) : 6;
    return { from: "1", step: String(Math.max(1, Math.round(most / 12))), to: String(most) };
  }
  if (Number.isFinite(now) && now > 1) return { from: "0", step: String(now / 10), to: String(now * 2) };
  return { from: "0.05", step: "0.05", to: "0.95" };
}

async function draw(): Promise<void> {
  const model = modelFile.value;
  const list = drawable.value.filter((one) => !left.value.has(one.key));
  problem.value = null;
  if (!model) return;
  if (swept.value.length === 0) {
    problem.value = "Choose a constant that varies.";
    return;
  }
  if (list.length === 0) {
    problem.value = "Choose at least one property.";
    return;
  }
  const ranges = Object.fromEntries(
    swept.value.map((name) => {
      const sweep = sweeps.value[name]!;
      return [name, [sweep.from, sweep.step, sweep.to].filter((text) => text.trim()).join(":")];
    }),
  );
  experiment.clear();
  curves.value = [];
  rows.value = 0;
  const properties: Property[] = list.map((one) => one.property);
  // The first constant changes last: the one of the x axis is the last.
  const [axis, ...others] = swept.value;
  const order = [...others, axis!];
  const values = { ...given.value };
  for (const name of order) delete values[name];
  for (const name of order) values[name] = ranges[name]!;
  const collected = new Map<string, Curve>();
  let timer = 0;
  await experiment.ask({ model, properties, constants: values, options: options.value }, (part) => {
    if ("plan" in part) {
      plan.value = { constants: order, properties: list.map((one) => one.name ?? one.text), rows: part.plan.rows };
      return;
    }
    rows.value += 1;
    const { point } = part;
    const rest = others.map((name) => `${name}=${formatNumber(point.constants[name] ?? null)}`).join(", ");
    point.answers.forEach((answer, i) => {
      const name = [plan.value?.properties[i], rest].filter(Boolean).join(", ");
      const curve = collected.get(name) ?? { name, x: [], y: [], lower: [], upper: [] };
      collected.set(name, curve);
      put(curve, toNumber(point.constants[axis!] ?? null), answer.value, answer.lower, answer.upper);
    });
    // Points come fast: the picture is drawn a few times a second.
    if (!timer) {
      timer = window.setTimeout(() => {
        timer = 0;
        curves.value = [...collected.values()].map((curve) => ({ ...curve }));
      }, 200);
    }
  });
  window.clearTimeout(timer);
  curves.value = [...collected.values()];
}

function put(curve: Curve, x: number, value: Value | null, lower: Num | null, upper: Num | null): void {
  const number = toNumber(value);
  let at = curve.x.length;
  while (at > 0 && curve.x[at - 1]! > x) at -= 1;
  curve.x.splice(at, 0, x);
  curve.y.splice(at, 0, Number.isFinite(number) ? number : null);
  curve.lower.splice(at, 0, isNum(lower) ? lower : null);
  curve.upper.splice(at, 0, isNum(upper) ? upper : null);
}

const data = computed(() =>
  curves.value.map((curve, i) => ({
    type: "scatter",
    mode: curve.x.length > 60 ? "lines" : "lines+markers",
    name: curve.name,
    x: curve.x,
    y: curve.y,
    line: { width: 2, color: SERIES[i % SERIES.length] },
    marker: { size: 5 },
    customdata: curve.lower.map((low, k) => [low ?? "", curve.upper[k] ?? ""]),
    hovertemplate:
      "%{x}: %{y:.8g}<br>from %{customdata[0]:.10g}<br>to %{customdata[1]:.10g}<extra>%{fullData.name}</extra>",
  })),
);

export function CurvesPane() {
  const constantsOpen = open.value;
  if (!modelFile.value) return <p class="empty">Open a model first.</p>;
  if (constantsOpen.length === 0) {
    return (
      <p class="empty">
        Curves need a constant without a value, such as <code>const double p;</code> in the model or in the properties.
        Then ranges of it can be asked at once.
      </p>
    );
  }
  const result = experiment.result.value;
  return (
    <div class="stack">
      <fieldset class="box">
        <legend>What varies</legend>
        {constantsOpen.map((one) => (
          <SweepRow key={one.name} info={one} />
        ))}
      </fieldset>
      <fieldset class="box">
        <legend>What is asked</legend>
        {drawable.value.length === 0 && (
          <p class="muted small">No property fits: open a file of properties, or ask something under Answers.</p>
        )}
        <div class="choices">
          {drawable.value.map((one) => (
            <label key={one.key} class="labelled" title={one.text}>
              <input type="checkbox" checked={!left.value.has(one.key)} onChange={() => toggle(one.key)} />
              {one.name ?? <code>{one.text}</code>}
            </label>
          ))}
        </div>
      </fieldset>
      <div class="toolbar">
        <button type="button" class="button primary" disabled={experiment.running.value} onClick={() => void draw()}>
          <Icon name="play" /> Draw
        </button>
        {problem.value && (
          <span class="bad" role="alert">
            {problem.value}
          </span>
        )}
        {plan.value && rows.value > 0 && (
          <span class="muted small">
            {plural(rows.value, "point")} of {plan.value.rows}
          </span>
        )}
        <span class="end" />
        <Share
          what="the curves"
          copied={result?.copied}
          of={result ? experiment.id.value : null}
          formats={["csv", "json", "pdf"]}
          more={curves.value.length > 0 ? plotItems("curves-plot", "curves") : []}
        />
      </div>
      <Outcome question={experiment} />
      {curves.value.length > 0 && (
        <Plot id="curves-plot" data={data.value} x={swept.value[0]} y="" label={`Curves over ${swept.value[0]}`} />
      )}
      {result && (
        <details>
          <summary>Table</summary>
          <TableView table={result.table} label="Points of the curves" />
        </details>
      )}
    </div>
  );
}

function toggle(key: string): void {
  const next = new Set(left.value);
  if (!next.delete(key)) next.add(key);
  left.value = next;
}

function SweepRow({ info }: { info: ConstantInfo }) {
  const sweep = sweeps.value[info.name];
  const set = (more: Partial<Sweep>) =>
    (sweeps.value = { ...sweeps.value, [info.name]: { ...(sweep ?? suggest(info)), ...more } });
  const flip = () => {
    if (!sweep) return set({});
    const { [info.name]: _, ...rest } = sweeps.value;
    sweeps.value = rest;
  };
  return (
    <div class="sweep">
      <label class="labelled">
        <input type="checkbox" checked={!!sweep} onChange={flip} />
        <code>{info.name}</code>
      </label>
      {sweep ? (
        (["from", "step", "to"] as const).map((part) => (
          <label key={part} class="labelled">
            {part}
            <input
              class="field mono number"
              value={sweep[part]}
              aria-label={`${info.name} ${part}`}
              onInput={(event) => set({ [part]: event.currentTarget.value })}
            />
          </label>
        ))
      ) : (
        <span class="muted small">
          {constants.value[info.name] ? `is ${constants.value[info.name]}` : "has no value yet"}
        </span>
      )}
    </div>
  );
}
