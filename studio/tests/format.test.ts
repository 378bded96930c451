import { expect, test } from "vitest";
import {
  formatBytes,
  formatNumber,
  formatSeconds,
  formatState,
  plural,
  sliderRange,
  sliderText,
  toNumber,
} from "../src/format";

test("numbers are as short as they can be", () => {
  expect(formatNumber(0.5)).toBe("0.5");
  expect(formatNumber(1 / 3)).toBe("0.333333");
  expect(formatNumber(1200)).toBe("1200");
  expect(formatNumber(1e-12)).toBe("1e-12");
  expect(formatNumber(123456.789, 3)).toBe("1.23e5");
  expect(formatNumber("1/3")).toBe("1/3");
  expect(formatNumber("Infinity")).toBe("∞");
  expect(formatNumber(true)).toBe("true");
  expect(formatNumber(null)).toBe("–");
});

test("texts become numbers where they are some", () => {
  expect(toNumber("1/4")).toBe(0.25);
  expect(toNumber("-Infinity")).toBe(Number.NEGATIVE_INFINITY);
  expect(toNumber(true)).toBe(1);
  expect(toNumber(null)).toBeNaN();
  expect(toNumber("abc")).toBeNaN();
});

test("times, sizes, counts and states in words", () => {
  expect(formatSeconds(0.0123)).toBe("12 ms");
  expect(formatSeconds(2.34)).toBe("2.3 s");
  expect(formatSeconds(125)).toBe("2 min 5 s");
  expect(formatBytes(1_234_567)).toBe("1.2 MB");
  expect(plural(1, "box", "boxes")).toBe("1 box");
  expect(plural(1234, "state")).toBe("1,234 states");
  expect(formatState(["x", "on"], [1, false])).toBe("x=1, on=false");
});

test("sliders hold the value that was typed", () => {
  for (const value of [-7, 0, 3, 1000]) {
    const { low, high } = sliderRange("int", value);
    expect(low).toBeLessThanOrEqual(value);
    expect(high).toBeGreaterThanOrEqual(value);
  }
  for (const value of [-0.2, 0.05, 0.5, 1, 2.5, 40]) {
    const { low, high, step } = sliderRange("double", value);
    expect(low).toBeLessThanOrEqual(value);
    expect(high).toBeGreaterThanOrEqual(value);
    expect(step).toBeGreaterThan(0);
  }
  expect(sliderText("double", 0.1 + 0.2)).toBe("0.3");
});
