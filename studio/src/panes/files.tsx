/** The sidebar: the files of the project, and the outline of the text. */

import { signal } from "@preact/signals";
import { ask } from "../connection";
import { narrowPane } from "../layout";
import { add, close, fail, find, goTo, kindOf, openFile } from "../project";
import type { FileEntry, OutlineEntry } from "../protocol";
import { activeModel, activeProperties, diagnosis, docs, files } from "../state";
import { prompt } from "../ui/dialog";
import { Icon } from "../ui/icons";
import { Menu } from "../ui/menu";
import { say } from "../ui/toast";
import { galleryShown } from "./gallery";

const TEMPLATES = {
  model:
    "dtmc\n\nmodule m\n\n  x : [0..1] init 0;\n\n  [] x=0 -> 0.5 : (x'=0) + 0.5 : (x'=1);\n  [] x=1 -> true;\n\nendmodule\n",
  properties: "P=? [ F x=1 ];\n",
};

export async function newFile(): Promise<void> {
  const name = await prompt(
    "New file",
    "Its name, with .prism for a model and .props for properties",
    "model.prism",
    "Create",
  );
  if (!name) return;
  if (find(name) || files.value.some((one) => one.file === name))
    return say(`There is already a file ${name}.`, "error");
  const kind = kindOf(name);
  if (!kind) return say("End the name in .prism for a model or .props for properties.", "error");
  add(name, kind, TEMPLATES[kind], null);
  narrowPane.value = "text";
}

async function newFolder(): Promise<void> {
  const folder = await prompt("New folder", "Its name", "models", "Create");
  if (!folder) return;
  try {
    files.value = (await ask("create_folder", { folder })).files;
  } catch (error) {
    fail(error);
  }
}

async function renameFile(entry: FileEntry): Promise<void> {
  const to = await prompt(`Rename ${entry.file}`, "The new name", entry.file, "Rename");
  if (!to || to === entry.file) return;
  try {
    const doc = find(entry.file);
    if (doc?.dirty.value) await doc.save();
    files.value = (await ask("rename_file", { file: entry.file, to })).files;
    if (!doc) return;
    await close(doc);
    await openFile(to, true);
  } catch (error) {
    fail(error);
  }
}

async function deleteFile(entry: FileEntry): Promise<void> {
  const sure = await prompt(`Delete ${entry.file}? This cannot be undone.`, null, "", "Delete");
  if (sure === null) return;
  try {
    files.value = (await ask("delete_file", { file: entry.file })).files;
    const doc = find(entry.file);
    if (doc) await close(doc);
  } catch (error) {
    fail(error);
  }
}

async function show(file: string): Promise<void> {
  if (await openFile(file)) narrowPane.value = "text";
}

export function FilesPane() {
  const unsaved = docs.value.filter((doc) => doc.stamp === null && !files.value.some((one) => one.file === doc.file));
  return (
    <aside id="pane-files" class="pane sidebar" aria-label="Files and outline" tabIndex={-1}>
      <section class="side-part" aria-label="Files">
        <div class="side-head">
          <h2>Files</h2>
          <Menu
            quiet
            name="New file, folder or model of the gallery"
            label={<Icon name="plus" />}
            items={[
              { label: "New file", run: () => void newFile() },
              { label: "New folder", run: () => void newFolder() },
              { label: "From the gallery", run: () => (galleryShown.value = true) },
            ]}
          />
        </div>
        {files.value.length === 0 && unsaved.length === 0 && (
          <p class="side-hint">This folder has no models yet. Make a file with +, or begin with one of the gallery.</p>
        )}
        <ul class="files">
          {unsaved.map((doc) => (
            <li key={doc.file} class="file">
              <button type="button" class="file-name" onClick={() => void show(doc.file)}>
                <Icon name="file" />
                <span class="grow">{doc.file}</span>
                <span class="dot" title="Not saved yet" />
              </button>
            </li>
          ))}
          {files.value.map((entry) => (
            <FileRow key={entry.file} entry={entry} />
          ))}
        </ul>
      </section>
      <Outline />
    </aside>
  );
}

function FileRow({ entry }: { entry: FileEntry }) {
  const doc = find(entry.file);
  const parts = entry.file.split("/");
  const depth = parts.length - 1;
  const openable = entry.kind === "model" || entry.kind === "properties";
  const current = doc !== undefined && (doc === activeModel.value || doc === activeProperties.value);
  return (
    <li class={`file ${entry.kind}`} style={{ paddingInlineStart: `${depth * 14}px` }}>
      {openable ? (
        <button
          type="button"
          class="file-name"
          aria-current={current ? "true" : undefined}
          onClick={() => void show(entry.file)}
        >
          <Icon name="file" />
          <span class="grow">{parts.at(-1)}</span>
          {doc?.dirty.value && <span class="dot" title="Not saved" />}
        </button>
      ) : (
        <span class="file-name other">
          <Icon name={entry.kind === "folder" ? "folder" : "file"} />
          <span class="grow">{parts.at(-1)}</span>
        </span>
      )}
      <Menu
        quiet
        name={`More about ${entry.file}`}
        label=""
        items={[
          { label: "Rename", run: () => void renameFile(entry) },
          { label: "Delete", run: () => void deleteFile(entry) },
        ]}
      />
    </li>
  );
}

const filter = signal("");

function Outline() {
  const entries = diagnosis.value?.outline ?? [];
  return (
    <section class="side-part outline" aria-label="Outline">
      <div class="side-head">
        <h2>Outline</h2>
      </div>
      {entries.length > 8 && (
        <input
          class="field small"
          placeholder="Find a name"
          aria-label="Find a name in the outline"
          value={filter.value}
          onInput={(event) => (filter.value = event.currentTarget.value)}
        />
      )}
      {entries.length === 0 && <p class="side-hint">Modules, variables and labels of the open model appear here.</p>}
      <OutlineList entries={entries} depth={0} />
    </section>
  );
}

/** The most entries that are drawn; models of two megabytes have very many. */
const MOST = 300;

function OutlineList({ entries, depth }: { entries: readonly OutlineEntry[]; depth: number }) {
  const text = filter.value.toLowerCase();
  const fits = (entry: OutlineEntry): boolean => entry.name.toLowerCase().includes(text) || entry.children.some(fits);
  const shown = text ? entries.filter(fits) : entries;
  return (
    <ul>
      {shown.slice(0, MOST).map((entry) => (
        <li key={`${entry.kind}-${entry.range.from}-${entry.name}`}>
          <button
            type="button"
            class="outline-entry"
            style={{ paddingInlineStart: `${10 + depth * 14}px` }}
            onClick={() => void jump(entry)}
          >
            <span class={`kind ${entry.kind}`} title={entry.kind}>
              {entry.kind.slice(0, 1).toUpperCase()}
            </span>
            <span class="outline-name">{entry.name || entry.kind}</span>
            {entry.detail && <span class="muted outline-detail">{entry.detail}</span>}
          </button>
          {entry.children.length > 0 && <OutlineList entries={entry.children} depth={depth + 1} />}
        </li>
      ))}
      {shown.length > MOST && <li class="side-hint">and {shown.length - MOST} more; find them by name</li>}
    </ul>
  );
}

async function jump(entry: OutlineEntry): Promise<void> {
  narrowPane.value = "text";
  await goTo(entry.file, entry.name_range);
}
