/** The questions about the model as it is typed: asked again whenever the text or a constant changes. */

import { computed, effect, signal, untracked } from "@preact/signals";
import type { Answer } from "./protocol";
import { Question } from "./question";
import {
  activeModel,
  activeProperties,
  type Asked,
  asked,
  diagnosed,
  diagnosis,
  given,
  modelFile,
  options,
  ready,
} from "./state";

export const check = new Question("check", "Checking");
/** Whether answers follow the text by themselves. */
export const live = signal(true);
/** By the key of the question; what is there stays until it is answered anew. */
export const answers = signal<ReadonlyMap<string, Answer>>(new Map());
/** Those that belong to the text and constants as they are now. */
export const fresh = signal<ReadonlySet<string>>(new Set());

export const askable = computed(() => asked.value.filter((one) => one.needs.length === 0));

/** What the answers depend on, as a text that can be compared. */
const situation = computed(() =>
  JSON.stringify([
    modelFile.value,
    activeModel.value?.edits.value,
    activeProperties.value?.file,
    activeProperties.value?.edits.value,
    diagnosis.value?.versions,
    given.value,
    askable.value.map((one) => one.property),
    options.value,
  ]),
);

export async function checkNow(): Promise<void> {
  const model = modelFile.peek();
  const list: Asked[] = askable.peek();
  if (!ready.peek() || !model || list.length === 0) return;
  fresh.value = new Set();
  const now = situation.peek();
  const put = (number: number, answer: Answer) => {
    const one = list[number];
    if (!one || situation.peek() !== now) return;
    answers.value = new Map(answers.value).set(one.key, answer);
    fresh.value = new Set(fresh.value).add(one.key);
  };
  const fields = {
    model,
    properties: list.map((one) => one.property),
    constants: given.peek(),
    options: options.peek(),
  };
  const result = await check.ask(fields, (part) => put(part.number, part.answer));
  result?.answers.forEach((answer, number) => {
    put(number, answer);
  });
}

effect(() => {
  void modelFile.value;
  answers.value = new Map();
  untracked(() => check.stop());
  check.clear();
});

let waiting = 0;
effect(() => {
  void situation.value;
  fresh.value = new Set();
  check.trouble.value = null;
  window.clearTimeout(waiting);
  // A text that was changed since it was diagnosed is asked about when the next diagnosis is there.
  if (!live.value || !ready.value || !diagnosed.value) return;
  waiting = window.setTimeout(() => void checkNow(), 150);
});
