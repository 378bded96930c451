/** What one can do with the project: open, save and close files, set constants, have the text diagnosed. */

import { batch, effect } from "@preact/signals";
import { ask, connection, troubleOf } from "./connection";
import { Doc, type Kind } from "./documents";
import { docExtensions } from "./editor/extensions";
import type { Constants, FileEntry, Range } from "./protocol";
import { activeModel, activeProperties, constants, diagnosis, docs, files } from "./state";
import { prompt } from "./ui/dialog";
import { say } from "./ui/toast";

// ------------------------------------------------------------------------------------------------------ files

export function kindOf(file: string): Kind | null {
  const entry = files.value.find((one) => one.file === file);
  if (entry?.kind === "model" || entry?.kind === "properties") return entry.kind;
  if (/\.(props|prop|pctl|csl|ltl)$/.test(file)) return "properties";
  if (/\.(prism|pm|nm|sm|jani|xml|sbml)$/.test(file)) return "model";
  return null;
}

export function find(file: string): Doc | undefined {
  return docs.value.find((one) => one.file === file);
}

export function activate(doc: Doc): void {
  batch(() => {
    if (doc.kind === "model") {
      if (activeModel.value !== doc) {
        rememberConstants();
        activeModel.value = doc;
        constants.value = recallConstants(doc.file);
        diagnosis.value = null;
      }
      const partner = partnerOf(doc.file);
      if (partner) activeProperties.value = partner;
    } else activeProperties.value = doc;
  });
}

function partnerOf(model: string): Doc | undefined {
  const stem = model.replace(/\.[^.]*$/, "");
  return docs.value.find((one) => one.kind === "properties" && one.file.replace(/\.[^.]*$/, "") === stem);
}

export function add(file: string, kind: Kind, text: string, stamp: string | null): Doc {
  const doc = new Doc(file, kind, text, stamp, docExtensions);
  docs.value = [...docs.value, doc];
  activate(doc);
  void doc.tell().catch(fail);
  return doc;
}

export async function openFile(file: string, alone = false): Promise<Doc | null> {
  const there = find(file);
  if (there) {
    activate(there);
    return there;
  }
  const kind = kindOf(file);
  if (!kind) {
    say(`${file} is neither a model nor a list of properties.`);
    return null;
  }
  try {
    const { text, stamp } = await ask("read", { file });
    const doc = find(file) ?? add(file, kind, text, stamp);
    if (kind === "model" && !alone) await openPartner(file);
    return doc;
  } catch (error) {
    fail(error);
    return null;
  }
}

/** The properties that lie beside a model under the same name. */
async function openPartner(model: string): Promise<void> {
  const stem = model.replace(/\.[^.]*$/, "");
  const entry = files.value.find((one) => one.kind === "properties" && one.file.replace(/\.[^.]*$/, "") === stem);
  if (entry && !find(entry.file)) await openFile(entry.file);
}

export async function close(doc: Doc): Promise<void> {
  docs.value = docs.value.filter((one) => one !== doc);
  const next = docs.value.findLast((one) => one.kind === doc.kind) ?? null;
  if (activeModel.value === doc) {
    if (next) activate(next);
    else {
      activeModel.value = null;
      diagnosis.value = null;
    }
  }
  if (activeProperties.value === doc) activeProperties.value = next;
  await ask("buffer_close", { file: doc.file }).catch(fail);
}

export async function save(doc: Doc): Promise<void> {
  try {
    const entry = files.value.find((one) => one.file === doc.file);
    if (entry && doc.stamp !== entry.stamp) {
      const sure = await prompt(`${doc.file} was changed on disk by somebody else.`, null, "", "Overwrite it");
      if (sure === null) return;
      doc.stamp = entry.stamp;
    }
    await doc.save();
    say(`${doc.file} is saved.`);
    files.value = (await ask("files", {})).files;
  } catch (error) {
    fail(error);
  }
}

export async function saveAll(): Promise<void> {
  for (const doc of docs.value) if (doc.dirty.value) await save(doc);
}

/** A name that no file has yet. */
export function freeName(file: string): string {
  const taken = (name: string) => files.value.some((one) => one.file === name) || !!find(name);
  if (!taken(file)) return file;
  const [, stem = file, ending = ""] = /^(.*?)(\.[^.]*)?$/.exec(file) ?? [];
  for (let i = 2; ; i += 1) if (!taken(`${stem}-${i}${ending}`)) return `${stem}-${i}${ending}`;
}

export async function openGallery(name: string): Promise<void> {
  try {
    const { entry, model, properties } = await ask("gallery_open", { name });
    const file = freeName(model.file);
    const stem = file.replace(/\.[^.]*$/, "");
    const doc = add(file, "model", model.text, null);
    if (properties) add(`${stem}.props`, "properties", properties.text, null);
    activate(doc);
    constants.value = { ...entry.constants };
  } catch (error) {
    fail(error);
  }
}

export function fail(error: unknown): void {
  const trouble = troubleOf(error);
  if (trouble) say(trouble.hint ? `${trouble.message} ${trouble.hint}` : trouble.message, "error");
}

/** Open a file and put the cursor on a place of it. */
export async function goTo(file: string, range: Pick<Range, "from">): Promise<void> {
  const doc = await openFile(file, true);
  // The editor shows the file after the page has been drawn again.
  if (doc) requestAnimationFrame(() => doc.show(range));
}

// -------------------------------------------------------------------------------------------------- constants

const memory = (file: string) => `galton-constants:${connection.hello.value?.project.name ?? ""}:${file}`;

function rememberConstants(): void {
  if (activeModel.value) localStorage.setItem(memory(activeModel.value.file), JSON.stringify(constants.value));
}

function recallConstants(file: string): Constants {
  try {
    return JSON.parse(localStorage.getItem(memory(file)) ?? "{}") as Constants;
  } catch {
    return {};
  }
}

export function setConstant(name: string, value: string): void {
  constants.value = { ...constants.value, [name]: value };
  rememberConstants();
}

// -------------------------------------------------------------------------------------------------- diagnosis

export async function diagnose(): Promise<void> {
  const [model, properties] = [activeModel.value, activeProperties.value];
  if (!model || connection.state.value !== "open") return;
  try {
    await Promise.all([model.tell(), properties?.tell()]);
    const result = await ask(
      "diagnose",
      { model: model.file, properties: properties?.file ?? null, constants: constants.value },
      { slot: "diagnose" },
    );
    if (activeModel.value === model && activeProperties.value === properties) diagnosis.value = result;
  } catch (error) {
    fail(error);
  }
}

// --------------------------------------------------------------------------------------------- after a reload

/** The open files are known again after the page was loaded again; those in front come last. */
const opened = () => `galton-open:${connection.hello.value?.project.name ?? ""}`;
let greeted = false;

function rememberOpen(): void {
  const front = [activeProperties.value, activeModel.value];
  const names = [...docs.value.filter((doc) => !front.includes(doc)), ...front].map((doc) => doc?.file);
  const saved = names.filter((name) => files.value.some((one) => one.file === name));
  if (greeted) sessionStorage.setItem(opened(), JSON.stringify(saved));
}

function recallOpen(): string[] {
  try {
    return JSON.parse(sessionStorage.getItem(opened()) ?? "[]") as string[];
  } catch {
    return [];
  }
}

let waiting = 0;

export function start(): void {
  connection.onNews((news) => {
    if (news.event === "hello") void greet(news.hello.open);
    if (news.event === "files") {
      files.value = news.files;
      for (const entry of news.files) followDisk(entry);
    }
    if (news.event === "goodbye") say(news.reason, "error");
  });
  connection.open();
  effect(rememberOpen);
  effect(() => {
    // What the diagnosis depends on.
    void [activeModel.value, activeModel.value?.edits.value, activeProperties.value];
    void [activeProperties.value?.edits.value, constants.value, connection.state.value];
    window.clearTimeout(waiting);
    waiting = window.setTimeout(() => void diagnose(), 80);
  });
  window.addEventListener("beforeunload", (event) => {
    if (docs.value.some((doc) => doc.touched)) event.preventDefault();
  });
}

async function greet(open: string | null): Promise<void> {
  try {
    files.value = (await ask("files", {})).files;
    for (const doc of docs.value) {
      doc.forget();
      await doc.tell();
    }
    if (docs.value.length === 0) {
      const before = recallOpen().filter((file) => files.value.some((one) => one.file === file));
      for (const file of before) await openFile(file, true);
      if (open && before.length === 0) await openFile(open);
    }
    greeted = true;
    void diagnose();
  } catch (error) {
    fail(error);
  }
}

/** A file that somebody else changed is read again; unless it was changed here too. */
function followDisk(entry: FileEntry): void {
  const doc = find(entry.file);
  if (!doc || doc.stamp === null || doc.stamp === entry.stamp) return;
  if (!doc.dirty.value) void doc.reload().catch(fail);
  else say(`${entry.file} was changed on disk too. Saving will ask which to keep.`, "error");
}
