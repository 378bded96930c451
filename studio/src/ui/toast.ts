/** Short messages at the edge of the page. They are read aloud, and go by themselves. */

import { signal } from "@preact/signals";

export interface Message {
  id: number;
  text: string;
  tone: "plain" | "error";
}

export const messages = signal<readonly Message[]>([]);
let count = 0;

export function say(text: string, tone: Message["tone"] = "plain"): void {
  const message = { id: ++count, text, tone };
  messages.value = [...messages.value.slice(-3), message];
  window.setTimeout(() => dismiss(message.id), tone === "error" ? 12000 : 2500);
}

export function dismiss(id: number): void {
  messages.value = messages.value.filter((one) => one.id !== id);
}
