/** Which pane is shown and how large panes are; kept for the next visit. */

import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
export type BenchTab = "answers" | "curves" | "states" | "simulate" | "synthesis";
export type NarrowPane = "files" | "text" | "work";

export const BENCH_TABS: readonly { id: BenchTab; title: string }[] = [
  { id: "answers", title: "Answers" },
  { id: "curves", title: "Curves" },
  { id: "states", title: "States" },
  { id: "simulate", title: "Simulate" },
  { id: "synthesis", title: "Synthesis" },
];

function kept<T>(name: string, initial: T) {
  const key = `galton-${name}`;
  const text = localStorage.getItem(key);
  const value = signal<T>(text === null ? initial : (JSON.parse(text) as T));
  effect(() => localStorage.setItem(key, JSON.stringify(value.value)));
  return value;
}

export const theme = kept<Theme>("theme", "system");
export const benchTab = signal<BenchTab>("answers");
/** On narrow screens one pane is shown at a time. */
export const narrowPane = signal<NarrowPane>("text");
export const sidebarShown = kept("sidebar", true);
/** Shares of the window and of the editors, in percent. */
export const benchShare = kept("bench-share", 45);
export const propertiesShare = kept("properties-share", 40);

effect(() => {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
});

const dark = window.matchMedia("(prefers-color-scheme: dark)");
export const systemDark = signal(dark.matches);
dark.addEventListener("change", () => {
  systemDark.value = dark.matches;
});

/** A colour of the stylesheet as the browser resolves it, for canvases. */
export function colour(name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

/** Changes whenever colours do; panes that draw on canvases read it. */
export const look = signal(0);
effect(() => {
  void [theme.value, systemDark.value];
  look.value = look.peek() + 1;
});

const PANES = ["pane-files", "pane-model", "pane-properties", "pane-work"];

/** Move the focus to the next pane that is there, as F6 does. */
export function nextPane(backwards: boolean): void {
  const there = PANES.map((id) => document.getElementById(id)).filter(
    (pane) => pane !== null && pane.offsetParent !== null,
  );
  const now = there.findIndex((pane) => pane?.contains(document.activeElement));
  const next = now < 0 ? 0 : (now + (backwards ? there.length - 1 : 1)) % there.length;
  focusPane(there[next] ?? null);
}

export function focusPane(pane: HTMLElement | null): void {
  if (!pane) return;
  const editor = pane
    .querySelector<HTMLElement>("[data-editor]")
    ?.shadowRoot?.querySelector<HTMLElement>(".cm-content");
  const first = pane.querySelector<HTMLElement>('[aria-selected="true"], button:not(:disabled), input, [tabindex="0"]');
  (editor ?? first ?? pane).focus();
}
