/** The state space: a graph of small models, a table and a matrix of all, and the state that is chosen. */

import { signal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { connection } from "../connection";
import { formatBytes, formatCount, formatNumber, formatSeconds, formatState, plural } from "../format";
import { look } from "../layout";
import { Outcome } from "../question";
import { asked, diagnosis, missing, modelFile, ready, sound } from "../state";
import type { GraphView } from "../states/graph-view";
import {
  build,
  buildNow,
  chosen,
  choose,
  colouring,
  found,
  graph,
  matrix,
  oneState,
  paint,
  search,
  searchNow,
  sets,
  stale,
  statesOf,
  builtKey,
  values,
  where,
} from "../states/model";
import { scaleColour } from "../states/colours";
import { Icon } from "../ui/icons";
import { downloadUrl, Share } from "../ui/share";
import { Tabs } from "../ui/tabs";
import { MatrixView } from "./matrix";
import { simulateFrom } from "./simulate";
import { lastPage, StateTable } from "./state-table";

type View = "graph" | "table" | "matrix";
const view = signal<View>("graph");
const arrange = signal<"layers" | "force">("layers");

export function StatesPane() {
  const limits = connection.hello.value?.limits;
  const graphLimit = limits?.graph_states ?? 0;
  const canBuild = ready.value;
  useEffect(() => {
    if (canBuild && (builtKey.value === "" || stale.value) && !build.running.value) void buildNow(graphLimit);
  }, [canBuild]);
  if (!modelFile.value) return <p class="empty">Open a model first.</p>;
  if (missing.value.length > 0) {
    return (
      <p class="empty">
        The states depend on constants without a value: <code>{missing.value.map((one) => one.name).join(", ")}</code>.
      </p>
    );
  }
  if (diagnosis.value && !sound.value) return <p class="empty">The model has errors; mend them to see its states.</p>;
  const info = build.result.value?.model;
  const large = !!info && info.states > graphLimit;
  const shown = large && view.value === "graph" ? "table" : view.value;
  return (
    <div class="stack fill">
      <div class="toolbar">
        <button
          type="button"
          class={stale.value ? "button primary" : "button"}
          onClick={() => void buildNow(graphLimit)}
        >
          <Icon name="restart" /> {stale.value ? "Build again: the text has changed" : "Build"}
        </button>
        {info && (
          <span class="muted small">
            {plural(info.states, "state")}, {plural(info.transitions, "transition")}
            {info.choices !== info.states && `, ${plural(info.choices, "choice")}`}, {formatBytes(info.bytes)},{" "}
            {formatSeconds(info.seconds)}
          </span>
        )}
        <span class="end" />
        <StatesShare />
      </div>
      <Outcome question={build} />
      {info && (
        <>
          <div class="toolbar">
            <Tabs
              name="states"
              label="Ways to see the states"
              className="pills"
              chosen={shown}
              onChoose={(id) => (view.value = id as View)}
              tabs={[
                ...(large ? [] : [{ id: "graph", title: "Graph" }]),
                { id: "table", title: "Table" },
                { id: "matrix", title: "Matrix" },
              ]}
            />
            {shown !== "matrix" && <Colouring />}
            {shown !== "matrix" && <Search limit={limits?.page_states ?? 200} />}
          </div>
          <ColourWords />
          <div id="panel-states" role="tabpanel" aria-labelledby={`tab-states-${shown}`} class="states-panel">
            {shown === "graph" && <GraphFrame />}
            {shown === "table" && <StateTable />}
            {shown === "matrix" && <MatrixView />}
          </div>
          {shown !== "matrix" && <StateDetail />}
        </>
      )}
    </div>
  );
}

function Colouring() {
  const numbers = asked.value.filter((one) => one.needs.length === 0 && !one.info?.multi);
  const name = (text: string, name: string | null) => name ?? (text.length > 40 ? `${text.slice(0, 38)} …` : text);
  return (
    <label class="labelled">
      Colour
      <select
        class="field"
        value={colouring.value || "nothing"}
        onChange={(event) => (colouring.value = event.currentTarget.value.replace(/^nothing$/, ""))}
      >
        <option value="nothing">nothing</option>
        <optgroup label="Values">
          {numbers.map((one) => (
            <option key={one.key} value={`value:${one.key}`}>
              {name(one.text, one.name)}
            </option>
          ))}
        </optgroup>
        <optgroup label="The graph">
          <option value="distance">distance from the start</option>
          <option value="scc">components (SCC)</option>
          <option value="bscc">bottom components (BSCC)</option>
          <option value="mec">maximal end components</option>
        </optgroup>
        {(["prob0", "prob1"] as const).map((kind) => (
          <optgroup key={kind} label={kind === "prob0" ? "Probability 0" : "Probability 1"}>
            {numbers.map((one) => (
              <option key={one.key} value={`${kind}:${one.key}`}>
                {kind === "prob0" ? "never: " : "surely: "}
                {name(one.text, one.name)}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}

function ColourWords() {
  const kind = colouring.value.split(":")[0];
  const result = values.result.value;
  return (
    <>
      {kind === "value" ? <Outcome question={values} /> : kind ? <Outcome question={sets} /> : null}
      {kind === "value" && result && result.least !== null && (
        <div class="scale small">
          <span>{formatNumber(result.least)}</span>
          {[0, 0.25, 0.5, 0.75, 1].map((part) => (
            <span key={part} class="swatch" style={{ background: scaleColour(part) }} />
          ))}
          <span>{formatNumber(result.greatest)}</span>
          <code class="muted clip">{result.property}</code>
          <Share compact what="the values" copied={result.copied} of={values.id.value} formats={["csv", "json"]} />
        </div>
      )}
      {kind && kind !== "value" && sets.result.value && (
        <div class="row small muted">
          {sets.result.value.words}
          <Share
            compact
            what="the sets"
            copied={sets.result.value.copied}
            of={sets.id.value}
            formats={["csv", "json"]}
          />
        </div>
      )}
    </>
  );
}

function Search({ limit }: { limit: number }) {
  return (
    <form
      class="ask grow"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        void searchNow(limit);
      }}
    >
      <input
        class="field mono grow"
        placeholder={'Find states: x>2 & "done"'}
        aria-label="Find states by an expression"
        spellcheck={false}
        value={where.value}
        onInput={(event) => {
          where.value = event.currentTarget.value;
          if (!where.value) void searchNow(limit);
        }}
      />
      <button type="submit" class="button icon" aria-label="Find">
        <Icon name="search" />
      </button>
      {search.result.value && found.value && (
        <span class="small muted">{formatCount(search.result.value.total)} found</span>
      )}
      {search.trouble.value && (
        <span class="small bad" role="alert">
          {search.trouble.value.message}
        </span>
      )}
    </form>
  );
}

let current: GraphView | null = null;

function GraphFrame() {
  const host = useRef<HTMLDivElement>(null);
  const result = graph.result.value;
  const how = arrange.value;
  const drawn = useRef<GraphView | null>(null);
  useEffect(() => {
    let gone = false;
    let made: GraphView | null = null;
    if (result && host.current) {
      const box = host.current;
      void import("../states/graph-view").then(({ GraphView }) => {
        if (gone) return;
        made = new GraphView(box, result.states, result.edges, how, (state) => void choose(state));
        drawn.current = made;
        current = made;
        made.restyle(paint.peek());
        made.mark(found.peek());
        made.choose(chosen.peek());
        box.dataset.drawn = "true";
      });
    }
    return () => {
      gone = true;
      made?.destroy();
      drawn.current = null;
      current = null;
    };
  }, [result, how]);
  useSignalEffect(() => {
    void look.value;
    const now = paint.value;
    drawn.current?.restyle(now);
  });
  useSignalEffect(() => {
    const now = found.value;
    drawn.current?.mark(now);
  });
  useSignalEffect(() => {
    const now = chosen.value;
    drawn.current?.choose(now);
  });
  const press = (event: KeyboardEvent) => {
    const { key } = event;
    if (!result || !drawn.current) return;
    if (key === "ArrowLeft" || key === "ArrowRight" || key === "ArrowUp" || key === "ArrowDown") {
      event.preventDefault();
      const start = Math.max(
        0,
        result.states.findIndex((one) => one.initial),
      );
      void choose(chosen.value === null ? start : drawn.current.beside(chosen.value, key));
    }
  };
  return (
    <div class="graph-frame">
      <Outcome question={graph} />
      <div class="graph-tools">
        <button
          type="button"
          class="button icon"
          aria-label="Show the whole graph"
          title="Show all"
          onClick={() => drawn.current?.fit()}
        >
          <Icon name="fit" />
        </button>
        <select
          class="field"
          aria-label="How states are arranged"
          value={how}
          onChange={(event) => (arrange.value = event.currentTarget.value as typeof how)}
        >
          <option value="layers">by distance</option>
          <option value="force">by forces</option>
        </select>
      </div>
      <div
        ref={host}
        class="graph"
        role="application"
        tabIndex={0}
        aria-label={`Graph of ${result?.states.length ?? 0} states. Arrow keys move from state to state; the table shows the same.`}
        onKeyDown={press}
      />
    </div>
  );
}

function StateDetail() {
  const number = chosen.value;
  const info = build.result.value?.model;
  if (number === null || !info) return <p class="muted small">Choose a state to see what it is and where it leads.</p>;
  const detail = oneState.result.value;
  if (!detail || detail.state.state !== number) return <Outcome question={oneState} />;
  const { state, choices, incoming } = detail;
  const names = info.variables;
  return (
    <section class="detail" aria-label={`State ${number}`} aria-live="polite">
      <div class="row">
        <h3>State {number}</h3>
        {state.initial && <span class="badge">initial</span>}
        {state.labels.map((label) => (
          <span key={label} class="badge">
            {label}
          </span>
        ))}
        <span class="end" />
        <button
          type="button"
          class="button"
          onClick={() => void simulateFrom(Object.fromEntries(names.map((name, i) => [name, state.values[i]!])))}
        >
          <Icon name="step" /> Simulate from here
        </button>
        {statesOf.value && (
          <Share
            compact
            what={`state ${number}`}
            unasked={{ what: "state", asked: { ...statesOf.value, state: number } }}
          />
        )}
      </div>
      <code>{formatState(names, state.values)}</code>
      <div class="ways">
        <div>
          <h4>Leads to</h4>
          {choices.length === 0 && <p class="muted small">Nowhere: it is a deadlock.</p>}
          <ul>
            {choices.flatMap((choice) =>
              choice.successors.map((one) => (
                <li key={`${choice.choice}-${one.to}`}>
                  <button
                    type="button"
                    class="link mono"
                    disabled={one.to === null}
                    onClick={() => void choose(one.to)}
                  >
                    {formatNumber(one.number, 4)} {choice.action ? `[${choice.action}] ` : ""}→ {one.to}
                  </button>{" "}
                  <span class="muted small mono">
                    {formatState(Object.keys(one.changes), Object.values(one.changes))}
                  </span>
                </li>
              )),
            )}
          </ul>
        </div>
        <div>
          <h4>Comes from</h4>
          {incoming.length === 0 && <p class="muted small">Nowhere.</p>}
          <ul>
            {incoming.slice(0, 30).map((one, i) => (
              <li key={i}>
                <button type="button" class="link mono" onClick={() => void choose(one.from)}>
                  {one.from} {one.action ? `[${one.action}] ` : ""}
                  {formatNumber(one.number, 4)}
                </button>
              </li>
            ))}
          </ul>
        </div>
      </div>
    </section>
  );
}

function StatesShare() {
  const picture = { label: "Save the picture as PNG", run: () => current && downloadUrl("states.png", current.png()) };
  if (view.value === "matrix") {
    const result = matrix.result.value;
    return (
      <Share
        what="the matrix"
        copied={result?.copied}
        of={result ? matrix.id.value : null}
        formats={["png", "svg", "pdf"]}
      />
    );
  }
  const result = graph.result.value;
  if (view.value === "graph" && result) {
    return (
      <Share
        what="the graph"
        copied={result.copied}
        of={graph.id.value}
        formats={["dot", "json", "csv"]}
        more={[picture]}
      />
    );
  }
  return (
    <Share
      what="the states"
      copied={lastPage.value?.copied}
      of={lastPage.value?.id ?? null}
      formats={["csv", "json"]}
    />
  );
}
