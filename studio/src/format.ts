/** Numbers and times as people read them. */

import type { Num, Value } from "./protocol";

export function toNumber(value: Value | null): number {
  if (value === null || typeof value === "boolean") return value === null ? Number.NaN : Number(value);
  if (typeof value === "number") return value;
  const fraction = /^(-?\d+)\/(\d+)$/.exec(value);
  return fraction ? Number(fraction[1]) / Number(fraction[2]) : Number(value);
}

/** Up to `digits` significant digits, without trailing zeros. */
export function formatNumber(value: Value | null, digits = 6): string {
  if (value === null) return "–";
  if (typeof value === "string") return value === "Infinity" ? "∞" : value === "-Infinity" ? "−∞" : value;
  if (typeof value === "boolean") return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  const text = value.toPrecision(digits);
  if (!text.includes("e")) return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  return text.replace(/\.?0+e/, "e").replace("e+", "e");
}

export function formatCount(count: number): string {
  return count.toLocaleString("en-GB");
}

export function formatSeconds(seconds: number): string {
  if (seconds < 0.001) return "under 1 ms";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  if (bytes < 1e9) return `${(bytes / 1e6).toFixed(1)} MB`;
  return `${(bytes / 1e9).toFixed(2)} GB`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** A text as a sentence, which another may follow. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** A state as `x=1, y=2`. */
export function formatState(variables: readonly string[], values: readonly Value[]): string {
  return variables.map((name, i) => `${name}=${formatNumber(values[i] ?? null)}`).join(", ");
}

/** Where a slider of a constant begins and ends, for a value that somebody typed. */
export function sliderRange(type: "int" | "double", value: number): { low: number; high: number; step: number } {
  if (type === "int") return { low: Math.min(0, 2 * value), high: Math.max(10, 2 * value), step: 1 };
  if (value >= 0 && value <= 1) return { low: 0, high: 1, step: 0.01 };
  const size = 10 ** Math.ceil(Math.log10(Math.abs(value) * 1.5));
  return { low: value < 0 ? -size : 0, high: value < 0 ? 0 : size, step: size / 200 };
}

/** What a slider says, without the dust of binary fractions. */
export function sliderText(type: "int" | "double", value: number): string {
  return type === "int" ? String(Math.round(value)) : String(Number(value.toPrecision(6)));
}

export function isNum(value: Num | null): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
