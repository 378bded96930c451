/** What the page knows: the project, the open files, the diagnosis of the text, the values of constants. */

import { computed, signal } from "@preact/signals";
import { connection } from "./connection";
import type { Doc } from "./documents";
import type { Constants, Diagnosis, FileEntry, Options, Property, PropertyInfo } from "./protocol";

export const files = signal<FileEntry[]>([]);
export const docs = signal<readonly Doc[]>([]);
export const activeModel = signal<Doc | null>(null);
export const activeProperties = signal<Doc | null>(null);
export const diagnosis = signal<Diagnosis | null>(null);
export const constants = signal<Constants>({});
export const options = signal<Options>({});

/** Properties that somebody asks besides those of the file. */
export const ownProperties = signal<readonly string[]>([]);

export const modelFile = computed(() => activeModel.value?.file ?? null);
const errors = computed(() => diagnosis.value?.diagnostics.filter((one) => one.severity === "error") ?? []);
export const errorCount = computed(() => errors.value.length);
/** Whether the model can be built at all. */
export const sound = computed(
  () => !!diagnosis.value?.type && !errors.value.some((one) => one.file === modelFile.value),
);
/** Constants of the model alone that still need a value. */
export const missing = computed(() =>
  (diagnosis.value?.constants ?? []).filter(
    (one) => !one.defined && one.file === modelFile.value && !constants.value[one.name]?.trim(),
  ),
);
/** Whether the diagnosis is of the texts as they are now. */
export const diagnosed = computed(() => {
  const versions = diagnosis.value?.versions;
  const open = [activeModel.value, activeProperties.value].filter((doc) => doc !== null);
  return !!versions && open.every((doc) => doc.edits.value > 0 && versions[doc.file] === doc.told);
});
/** Whether questions about the model make sense now. */
export const ready = computed(
  () => !!modelFile.value && sound.value && missing.value.length === 0 && connection.state.value === "open",
);

/** The constants that are given; empty fields are left out, and so are those that nothing declares any more. */
export const given = computed<Constants>(() => {
  const declared = new Set((diagnosis.value?.constants ?? []).filter((one) => !one.defined).map((one) => one.name));
  return Object.fromEntries(
    Object.entries(constants.value).filter(([name, value]) => value.trim() !== "" && declared.has(name)),
  );
});
/** Of those, the ones of the model: what the asks about its states take. */
export const givenToModel = computed<Constants>(() => {
  const file = modelFile.value;
  const own = new Set((diagnosis.value?.constants ?? []).filter((one) => one.file === file).map((one) => one.name));
  return Object.fromEntries(Object.entries(given.value).filter(([name]) => own.has(name)));
});

export interface Asked {
  key: string;
  property: Property;
  text: string;
  name: string | null;
  info: PropertyInfo | null;
  /** Constants it needs that have no value. */
  needs: string[];
}

/** Everything that is asked about the model: the file's properties and the ones typed in, in this order. */
export const asked = computed<Asked[]>(() => {
  const file = activeProperties.value?.file;
  const values = given.value;
  const listed = (diagnosis.value?.properties ?? []).map((info) => ({
    key: `${info.number}`,
    property: { file: file ?? "", number: info.number },
    text: info.text,
    name: info.name,
    info,
    needs: info.constants.filter((name) => !values[name]),
  }));
  const own = ownProperties.value.map((text, i) => ({
    key: `own-${i}-${text}`,
    property: { text },
    text,
    name: null,
    info: null,
    needs: [],
  }));
  return [...own, ...(file ? listed : [])];
});
