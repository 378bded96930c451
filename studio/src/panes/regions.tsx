/** Pictures of boxes: intervals of one parameter, rectangles of two, and a block of three with its slices. */

import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatNumber, isNum, toNumber } from "../format";
import { colour, look } from "../layout";
import type { Answer, Box, Boxes, Copied } from "../protocol";
import { scaleColour } from "../states/colours";
import { Plot } from "../ui/plot";
import { download, Share } from "../ui/share";

/** What was asked at a point of the space. */
export interface AskedPoint {
  at: number[];
  answer: Answer;
  copied: Copied;
}

interface Props {
  boxes: Boxes;
  points: readonly AskedPoint[];
  onAsk: (at: number[]) => void;
}

const VERDICTS: Record<Box["verdict"], { words: string; colour: string | null }> = {
  true: { words: "true", colour: "#1f9e77" },
  false: { words: "false", colour: "#d95f02" },
  undecided: { words: "undecided", colour: "#b9bfca" },
  optimal: { words: "may hold the best", colour: "#e2a72e" },
  not: { words: "not the best", colour: "#8fa5d8" },
  value: { words: "value", colour: null },
};

export function RegionsView(props: Props) {
  const { boxes } = props;
  const dimensions = boxes.parameters.length;
  const kinds = [...new Set(boxes.boxes.map((box) => box.verdict))];
  return (
    <div class="stack">
      <Legend boxes={boxes} kinds={kinds} />
      {dimensions === 1 ? (
        <Picture {...props} axes={[0, null]} />
      ) : dimensions === 2 ? (
        <Picture {...props} axes={[0, 1]} />
      ) : (
        <Block {...props} />
      )}
      <AskPoint {...props} />
    </div>
  );
}

function Legend({ boxes, kinds }: { boxes: Boxes; kinds: Box["verdict"][] }) {
  const [least, greatest] = valueRange(boxes);
  return (
    <div class="row small legend">
      {kinds.map((kind) =>
        kind === "value" ? (
          <span key={kind} class="scale">
            {formatNumber(least, 4)}
            {[0, 0.25, 0.5, 0.75, 1].map((part) => (
              <span key={part} class="swatch" style={{ background: scaleColour(part) }} />
            ))}
            {formatNumber(greatest, 4)}
          </span>
        ) : (
          <span key={kind} class="row">
            <span class="swatch" style={{ background: VERDICTS[kind].colour ?? "" }} /> {VERDICTS[kind].words}
          </span>
        ),
      )}
    </div>
  );
}

function valueRange(boxes: Boxes): [number, number] {
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const box of boxes.boxes) {
    if (isNum(box.lower)) least = Math.min(least, box.lower);
    if (isNum(box.upper)) greatest = Math.max(greatest, box.upper);
  }
  return least <= greatest ? [least, greatest] : [0, 1];
}

function fill(box: Box, [least, greatest]: [number, number]): string {
  const plain = VERDICTS[box.verdict].colour;
  if (plain) return plain;
  const middle = (toNumber(box.lower) + toNumber(box.upper)) / 2;
  return scaleColour(greatest > least ? (middle - least) / (greatest - least) : 0.5);
}

const MARGIN = { left: 62, right: 14, top: 10, bottom: 44 };

/** A picture of one or two parameters. With one, bounds are the second axis. */
function Picture({
  boxes,
  points,
  onAsk,
  axes,
  slice,
}: Props & { axes: [number, number | null]; slice?: { axis: number; at: number } }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const hovered = useSignal<{ box: Box; at: number[]; x: number; y: number } | null>(null);
  const shade = look.value;
  const height = Math.round(Math.min(440, Math.max(260, width * 0.72)));
  const [ax, ay] = axes;
  const range = valueRange(boxes);
  const span = range[1] - range[0] || 1;
  const low = [boxes.low[ax]!, ay === null ? range[0] - 0.06 * span : boxes.low[ay]!];
  const high = [boxes.high[ax]!, ay === null ? range[1] + 0.06 * span : boxes.high[ay]!];
  const inner = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
  const toX = (x: number) => MARGIN.left + ((x - low[0]!) / (high[0]! - low[0]!)) * inner.width;
  const toY = (y: number) => MARGIN.top + inner.height - ((y - low[1]!) / (high[1]! - low[1]!)) * inner.height;
  const visible = slice
    ? boxes.boxes.filter((box) => box.low[slice.axis]! <= slice.at && slice.at <= box.high[slice.axis]!)
    : boxes.boxes;

  useEffect(() => {
    const element = canvas.current;
    if (!element?.parentElement) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(element.parentElement);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!canvas.current || !context || width < 50) return;
    void shade;
    const ratio = window.devicePixelRatio || 1;
    canvas.current.width = width * ratio;
    canvas.current.height = height * ratio;
    context.scale(ratio, ratio);
    context.clearRect(0, 0, width, height);
    const lines = visible.length < 3000;
    context.strokeStyle = colour("--surface");
    context.lineWidth = 0.7;
    for (const box of visible) {
      const [x0, x1] = [toX(box.low[ax]!), toX(box.high[ax]!)];
      const [y0, y1] =
        ay === null ? [toY(toNumber(box.upper)), toY(toNumber(box.lower))] : [toY(box.high[ay]!), toY(box.low[ay]!)];
      context.fillStyle = fill(box, range);
      context.fillRect(x0, y0, Math.max(1, x1 - x0), Math.max(ay === null ? 2 : 1, y1 - y0));
      if (lines && x1 - x0 > 3) context.strokeRect(x0, y0, x1 - x0, Math.max(2, y1 - y0));
    }
    drawAxes(context, boxes, axes, low, high, width, height);
    for (const { at, answer } of points) {
      if (slice && Math.abs(at[slice.axis]! - slice.at) > 1e-9) continue;
      // A point that was only found true or false has no height: it stands on the axis.
      const y = ay === null ? (answer.kind === "truth" ? low[1]! : toNumber(answer.value)) : at[ay]!;
      dot(context, toX(at[ax]!), toY(y), colour("--text"), colour("--surface"));
    }
    if (boxes.best) {
      const { point, lower, upper } = boxes.best;
      const y = ay === null ? (toNumber(lower) + toNumber(upper)) / 2 : point[ay]!;
      dot(context, toX(point[ax]!), toY(y), colour("--accent"), colour("--surface"));
    }
  }, [boxes, points, width, height, shade, slice?.at]);

  const locate = (event: MouseEvent) => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box) return null;
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    const x = low[0]! + ((px - MARGIN.left) / inner.width) * (high[0]! - low[0]!);
    const y = low[1]! + ((MARGIN.top + inner.height - py) / inner.height) * (high[1]! - low[1]!);
    if (x < low[0]! || x > high[0]! || y < low[1]! || y > high[1]!) return null;
    const at = boxes.low.map((least, i) => (i === ax ? x : i === ay ? y : i === slice?.axis ? slice.at : least));
    const found = visible.find((one) => at.every((value, i) => one.low[i]! <= value && value <= one.high[i]!));
    return found ? { box: found, at, x: px, y: py } : null;
  };

  const names = ay === null ? boxes.parameters[ax] : `${boxes.parameters[ax]} and ${boxes.parameters[ay]}`;
  return (
    <div class="regions-frame">
      <canvas
        ref={canvas}
        id="regions-canvas"
        class="regions"
        style={{ width: `${width}px`, height: `${height}px` }}
        role="img"
        aria-label={`${boxes.boxes.length} boxes over ${names}`}
        onMouseMove={(event) => (hovered.value = locate(event))}
        onMouseLeave={() => (hovered.value = null)}
        onClick={(event) => {
          const here = locate(event);
          if (here) onAsk(here.at.map(round));
        }}
      />
      {hovered.value && (
        <div
          class="hover-note"
          style={{ left: `${Math.min(hovered.value.x + 12, width - 190)}px`, top: `${hovered.value.y + 12}px` }}
        >
          <BoxWords box={hovered.value.box} parameters={boxes.parameters} />
          <span class="muted">Click to ask at this point.</span>
        </div>
      )}
      <button
        type="button"
        class="button quiet"
        onClick={() => canvas.current?.toBlob((blob) => blob && download("regions.png", blob))}
      >
        Save this picture
      </button>
    </div>
  );
}

function BoxWords({ box, parameters }: { box: Box; parameters: string[] }) {
  return (
    <>
      <strong>{VERDICTS[box.verdict].words}</strong>
      <span>
        from {formatNumber(box.lower)} to {formatNumber(box.upper)}
      </span>
      {parameters.map((name, i) => (
        <span key={name} class="muted">
          {name} {formatNumber(box.low[i]!, 5)} … {formatNumber(box.high[i]!, 5)}
        </span>
      ))}
    </>
  );
}

const round = (value: number) => Number(value.toPrecision(6));

function dot(context: CanvasRenderingContext2D, x: number, y: number, inside: string, around: string): void {
  context.beginPath();
  context.arc(x, y, 5, 0, 2 * Math.PI);
  context.fillStyle = inside;
  context.fill();
  context.lineWidth = 2;
  context.strokeStyle = around;
  context.stroke();
}

function drawAxes(
  context: CanvasRenderingContext2D,
  boxes: Boxes,
  [ax, ay]: [number, number | null],
  low: number[],
  high: number[],
  width: number,
  height: number,
): void {
  context.fillStyle = colour("--text");
  context.strokeStyle = colour("--line-strong");
  context.lineWidth = 1;
  context.font = "12px system-ui, sans-serif";
  const inner = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
  context.strokeRect(MARGIN.left, MARGIN.top, inner.width, inner.height);
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  for (const part of width < 420 ? [0, 0.5, 1] : ticks) {
    context.textAlign = part === 0 ? "start" : part === 1 ? "end" : "center";
    context.textBaseline = "top";
    context.fillText(
      formatNumber(low[0]! + part * (high[0]! - low[0]!), 4),
      MARGIN.left + part * inner.width,
      height - MARGIN.bottom + 6,
    );
  }
  for (const part of ticks) {
    context.textAlign = "end";
    context.textBaseline = part === 0 ? "bottom" : part === 1 ? "top" : "middle";
    context.fillText(
      formatNumber(low[1]! + part * (high[1]! - low[1]!), 3),
      MARGIN.left - 6,
      MARGIN.top + (1 - part) * inner.height,
    );
  }
  context.textAlign = "center";
  context.textBaseline = "bottom";
  context.fillText(boxes.parameters[ax]!, MARGIN.left + inner.width / 2, height - 4);
  context.save();
  context.translate(12, MARGIN.top + inner.height / 2);
  context.rotate(-Math.PI / 2);
  context.textBaseline = "middle";
  context.fillText(ay === null ? "proved bounds" : boxes.parameters[ay]!, 0, 0);
  context.restore();
}

/** Three parameters: the block as a whole where the browser can draw it, and slices that every browser can. */
function Block(props: Props) {
  const { boxes } = props;
  const at = useSignal((boxes.low[2]! + boxes.high[2]!) / 2);
  const solid = useComputed(() => hasWebgl());
  const step = (boxes.high[2]! - boxes.low[2]!) / 100;
  return (
    <div class="stack">
      {solid.value && <Solid boxes={boxes} />}
      <label class="labelled">
        Slice at <code>{boxes.parameters[2]}</code> = {formatNumber(at.value, 4)}
        <input
          type="range"
          class="grow"
          min={boxes.low[2]}
          max={boxes.high[2]}
          step={step}
          value={at.value}
          onInput={(event) => (at.value = event.currentTarget.valueAsNumber)}
        />
      </label>
      <Picture {...props} axes={[0, 1]} slice={{ axis: 2, at: at.value }} />
    </div>
  );
}

function hasWebgl(): boolean {
  return document.createElement("canvas").getContext("webgl") !== null;
}

/** The boxes that are true, or may hold the best, as one mesh. */
function Solid({ boxes }: { boxes: Boxes }) {
  const groups = Map.groupBy(boxes.boxes, (box) => box.verdict);
  const data = [...groups]
    .filter(
      ([verdict]) => verdict === "true" || verdict === "optimal" || verdict === "undecided" || verdict === "value",
    )
    .map(([verdict, list]) =>
      mesh(list, VERDICTS[verdict].colour ?? "#3d7ff0", verdict === "undecided" ? 0.12 : 0.55, VERDICTS[verdict].words),
    );
  const [x, y, z] = boxes.parameters;
  return (
    <Plot
      id="regions-solid"
      data={data}
      x={x}
      y={y}
      z={z}
      label={`Boxes over ${boxes.parameters.join(", ")}`}
      layout={SOLID}
    />
  );
}

const SOLID = { showlegend: false };

/** Corners and triangles of many boxes. Corner c of a box has the high end of axis k where bit k of c is set. */
export function mesh(list: readonly Box[], fillColour: string, opacity: number, name: string) {
  const [x, y, z]: [number[], number[], number[]] = [[], [], []];
  const [i, j, k]: [number[], number[], number[]] = [[], [], []];
  const FACES = [
    [0, 1, 3],
    [0, 3, 2],
    [4, 5, 7],
    [4, 7, 6],
    [0, 1, 5],
    [0, 5, 4],
    [2, 3, 7],
    [2, 7, 6],
    [0, 2, 6],
    [0, 6, 4],
    [1, 3, 7],
    [1, 7, 5],
  ] as const;
  for (const box of list) {
    const first = x.length;
    for (let corner = 0; corner < 8; corner += 1) {
      x.push(corner & 1 ? box.high[0]! : box.low[0]!);
      y.push(corner & 2 ? box.high[1]! : box.low[1]!);
      z.push(corner & 4 ? box.high[2]! : box.low[2]!);
    }
    for (const [a, b, c] of FACES) {
      i.push(first + a);
      j.push(first + b);
      k.push(first + c);
    }
  }
  return { type: "mesh3d", x, y, z, i, j, k, color: fillColour, opacity, flatshading: true, hoverinfo: "name", name };
}

/** Ask at a point by keyboard, and the list of what was asked. */
function AskPoint({ boxes, points, onAsk }: Props) {
  const texts = useSignal(boxes.low.map((low, i) => String(round((low + boxes.high[i]!) / 2))));
  return (
    <form
      class="box"
      onSubmit={(event) => {
        event.preventDefault();
        onAsk(texts.value.map(Number));
      }}
    >
      <div class="row">
        <span>At</span>
        {boxes.parameters.map((name, i) => (
          <label key={name} class="labelled">
            <code>{name}</code>
            <input
              class="field mono number"
              value={texts.value[i]}
              onInput={(event) =>
                (texts.value = texts.value.map((text, k) => (k === i ? event.currentTarget.value : text)))
              }
            />
          </label>
        ))}
        <button type="submit" class="button">
          Ask at this point
        </button>
      </div>
      {points.length > 0 && (
        <ul class="points" aria-live="polite">
          {points.map(({ at, answer, copied }, i) => (
            <li key={i}>
              <code>{boxes.parameters.map((name, k) => `${name}=${formatNumber(at[k]!)}`).join(", ")}</code>:{" "}
              <strong>{answer.error ? answer.error.message : answer.text}</strong>
              {answer.behind && ` (${answer.behind.text})`}
              <Share compact what={`the answer at point ${i + 1}`} copied={copied} />
            </li>
          ))}
        </ul>
      )}
    </form>
  );
}
