import { expect, test } from "vitest";
import type { GraphEdge, GraphState } from "../src/protocol";
import { classColour, inkOn, scaleColour, scaleRgb } from "../src/states/colours";
import { layered } from "../src/states/layout";

const state = (distance: number): GraphState => ({ values: [], initial: distance === 0, labels: [], distance });
const edge = (from: number, to: number): GraphEdge => ({ from, to, choice: 0, action: null, number: 1 });

test("states stand in layers, and no two on one place", () => {
  const states = [0, 1, 1, 2, 2, 2, -1].map(state);
  const points = layered(states, [edge(0, 1), edge(0, 2), edge(1, 3), edge(1, 4), edge(2, 5), edge(5, 5)]);
  expect(points[1]!.y).toBe(points[2]!.y);
  expect(points[1]!.y).toBeGreaterThan(points[0]!.y);
  expect(points[6]!.y).toBeGreaterThan(points[5]!.y);
  expect(new Set(points.map(({ x, y }) => `${x},${y}`)).size).toBe(states.length);
});

test("edges between two layers do not cross where they need not", () => {
  // Two chains whose states are numbered crosswise.
  const points = layered([0, 0, 1, 1].map(state), [edge(0, 3), edge(1, 2)]);
  expect(Math.sign(points[0]!.x - points[1]!.x)).toBe(Math.sign(points[3]!.x - points[2]!.x));
});

test("wide layers are folded", () => {
  const points = layered([0, ...Array.from({ length: 100 }, () => 1)].map(state), []);
  expect(new Set(points.map(({ y }) => y)).size).toBeGreaterThan(3);
  expect(Math.max(...points.map(({ x }) => x))).toBeLessThan(2000);
});

test("the scale of colours has ends, and ink that can be read", () => {
  expect(scaleColour(0)).toBe("rgb(68, 1, 84)");
  expect(scaleColour(1)).toBe("rgb(253, 231, 37)");
  expect(scaleColour(Number.NaN)).toBe(scaleColour(0));
  expect(inkOn(scaleRgb(0))).toBe("#ffffff");
  expect(inkOn(scaleRgb(1))).toBe("#111111");
  expect(classColour(1)).not.toBe(classColour(2));
});
