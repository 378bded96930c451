/** Pareto fronts: of two or three objectives as a picture, of more as a table. */

import { computed, signal } from "@preact/signals";
import { formatNumber, formatSeconds, sentence, toNumber } from "../format";
import { Outcome, Question } from "../question";
import { asked, given, modelFile, ready } from "../state";
import { Icon } from "../ui/icons";
import { Plot, plotItems } from "../ui/plot";
import { Share } from "../ui/share";
import { TableView } from "../ui/table";

export const chosenPareto = signal("");
const pareto = new Question("pareto", "Finding the Pareto front");
const fitting = computed(() =>
  asked.value.filter((one) => one.needs.length === 0 && (one.info?.multi ?? /^\s*multi\s*\(/.test(one.text))),
);

async function draw(): Promise<void> {
  const one = fitting.value.find((other) => other.key === chosenPareto.value) ?? fitting.value[0];
  if (!modelFile.value || !one || !ready.value) return;
  await pareto.ask({ model: modelFile.value, property: one.property, constants: given.value });
}

const data = computed(() => {
  const result = pareto.result.value;
  if (!result) return [];
  const points = result.points.map((point) => point.map(toNumber));
  if (result.objectives.length === 3) {
    const [x, y, z] = [0, 1, 2].map((axis) => points.map((point) => point[axis]!));
    const corners = {
      type: "scatter3d",
      mode: "markers",
      name: "corners",
      x,
      y,
      z,
      marker: { size: 5, color: "#3d7ff0" },
    };
    return points.length > 3
      ? [{ type: "mesh3d", x, y, z, opacity: 0.35, color: "#3d7ff0", alphahull: 0, name: "front" }, corners]
      : [corners];
  }
  const sorted = [...points].sort((a, b) => a[0]! - b[0]!);
  return [
    {
      type: "scatter",
      mode: "lines+markers",
      name: "attainable",
      x: sorted.map((point) => point[0]),
      y: sorted.map((point) => point[1]),
      line: { width: 2.5 },
      marker: { size: 8 },
    },
  ];
});

export function ParetoView() {
  const result = pareto.result.value;
  if (fitting.value.length === 0) {
    return (
      <p class="empty">
        No property has several objectives. In a model of type <code>mdp</code>, ask{" "}
        <code>multi(Pmax=? [ F "a" ], Pmax=? [ F "b" ])</code> in a file of properties or under Answers.
      </p>
    );
  }
  const dimensions = result?.objectives.length ?? 0;
  const key = fitting.value.some((one) => one.key === chosenPareto.value) ? chosenPareto.value : fitting.value[0]!.key;
  return (
    <>
      <div class="toolbar">
        <select
          class="field grow"
          aria-label="Objectives"
          value={key}
          onChange={(event) => (chosenPareto.value = event.currentTarget.value)}
        >
          {fitting.value.map((one) => (
            <option key={one.key} value={one.key}>
              {one.name ? `${one.name}: ` : ""}
              {one.text}
            </option>
          ))}
        </select>
        <button
          type="button"
          class="button primary"
          disabled={pareto.running.value || !ready.value}
          onClick={() => void draw()}
        >
          <Icon name="play" /> Draw
        </button>
        <Share
          what="the Pareto front"
          copied={result?.copied}
          of={result ? pareto.id.value : null}
          formats={dimensions > 3 ? ["csv", "json"] : ["csv", "json", "pdf"]}
          more={result && dimensions <= 3 ? plotItems("pareto-plot", "pareto") : []}
        />
      </div>
      <Outcome question={pareto} />
      {result && (
        <>
          <p class="small muted">
            {sentence(result.words)} {result.proved ? "Proved" : "Found"} in {formatSeconds(result.seconds)}.
          </p>
          {dimensions > 3 ? (
            <p class="small muted">More than three objectives have no picture; the table has all corners.</p>
          ) : (
            <Plot
              key={dimensions}
              id="pareto-plot"
              data={data.value}
              x={result.objectives[0]}
              y={result.objectives[1]}
              z={result.objectives[2]}
              label={`Pareto front of ${result.objectives.join(" and ")}`}
            />
          )}
          <TableView
            label="Corners of the front"
            table={{
              columns: result.objectives,
              rows: result.points.map((point) => point.map((value) => formatNumber(value, 8))),
            }}
          />
        </>
      )}
    </>
  );
}
