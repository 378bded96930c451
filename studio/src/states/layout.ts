/** Where states stand in the picture: in layers by their distance from the start, ordered to cross few edges. */

import type { GraphEdge, GraphState } from "../protocol";

export interface Point {
  x: number;
  y: number;
}

const GAP_X = 74;
const GAP_Y = 96;
/** A layer wider than this is folded into several lines. */
const WIDEST = 28;

export function layered(states: readonly GraphState[], edges: readonly GraphEdge[], rounds = 6): Point[] {
  const layers: number[][] = [];
  states.forEach((state, i) => {
    // States that no path reaches have no distance; they stand below all others.
    const depth = state.distance >= 0 ? state.distance : -1;
    const at = depth < 0 ? states.length : depth;
    layers[at] ??= [];
    layers[at].push(i);
  });
  const filled = layers.filter((layer) => layer !== undefined);
  const neighbours: number[][] = states.map(() => []);
  for (const { from, to } of edges) {
    if (from === to) continue;
    neighbours[from]?.push(to);
    neighbours[to]?.push(from);
  }
  // The barycentre heuristic of Sugiyama, Tagawa and Toda (1981): each state near the middle of its neighbours.
  const place = new Array<number>(states.length).fill(0);
  const spread = (layer: number[]) => {
    layer.forEach((state, i) => {
      place[state] = i - (layer.length - 1) / 2;
    });
  };
  filled.forEach(spread);
  for (let round = 0; round < rounds; round += 1) {
    for (const layer of round % 2 ? [...filled].reverse() : filled) {
      const middle = new Map(
        layer.map((state) => [
          state,
          mean(
            neighbours[state]!.map((one) => place[one]!),
            place[state]!,
          ),
        ]),
      );
      layer.sort((a, b) => middle.get(a)! - middle.get(b)! || a - b);
      spread(layer);
    }
  }
  const points: Point[] = states.map(() => ({ x: 0, y: 0 }));
  let line = 0;
  for (const layer of filled) {
    const lines = Math.ceil(layer.length / WIDEST);
    const perLine = Math.ceil(layer.length / lines);
    layer.forEach((state, i) => {
      const row = Math.floor(i / perLine);
      const width = Math.min(perLine, layer.length - row * perLine);
      points[state] = { x: ((i % perLine) - (width - 1) / 2) * GAP_X, y: (line + row * 0.6) * GAP_Y };
    });
    line += 1 + (lines - 1) * 0.6;
  }
  return points;
}

function mean(numbers: number[], otherwise: number): number {
  return numbers.length === 0 ? otherwise : numbers.reduce((a, b) => a + b, 0) / numbers.length;
}
