/** The two editors: models above, properties below, each with the tabs of its files. */

import { useComputed } from "@preact/signals";
import type { Doc, Kind } from "../documents";
import { formatText, renameSymbol } from "../editor/actions";
import { Editor } from "../editor/editor";
import { propertiesShare } from "../layout";
import { activate, add, close, fail, freeName, save } from "../project";
import { activeModel, activeProperties, diagnosis, docs } from "../state";
import { prompt } from "../ui/dialog";
import { Icon } from "../ui/icons";
import { Menu } from "../ui/menu";
import { Splitter } from "../ui/splitter";
import { Tabs } from "../ui/tabs";
import { GalleryList } from "./gallery";

export function TextsPane() {
  const style = useComputed(() => ({ "--properties-share": `${propertiesShare.value}%` }));
  if (docs.value.length === 0) {
    return (
      <section class="pane texts" id="pane-model" aria-label="Begin" tabIndex={-1}>
        <Welcome />
      </section>
    );
  }
  return (
    <div class="texts" style={style.value}>
      <TextPane kind="model" />
      <Splitter label="Height of the properties" share={propertiesShare} axis="y" />
      <TextPane kind="properties" />
    </div>
  );
}

function Welcome() {
  return (
    <div class="welcome">
      <h2>What would you like to look at?</h2>
      <p class="muted">Open a file of your folder, or begin with a model that is known to work.</p>
      <GalleryList />
    </div>
  );
}

async function shut(doc: Doc): Promise<void> {
  if (doc.dirty.value) {
    const sure = await prompt(`Close ${doc.file} without saving?`, null, "", "Close it");
    if (sure === null) return;
  }
  await close(doc).catch(fail);
}

function TextPane({ kind }: { kind: Kind }) {
  const active = (kind === "model" ? activeModel : activeProperties).value;
  const own = docs.value.filter((doc) => doc.kind === kind);
  const title = kind === "model" ? "Model" : "Properties";
  return (
    <section class="pane text-pane" id={`pane-${kind}`} aria-label={title} tabIndex={-1}>
      <div class="pane-head">
        <Tabs
          name={kind}
          label={kind === "model" ? "Open models" : "Open properties"}
          className="file-tabs"
          chosen={active?.file ?? null}
          onChoose={(file) => {
            const doc = own.find((one) => one.file === file);
            if (doc) activate(doc);
          }}
          onClose={(file) => {
            const doc = own.find((one) => one.file === file);
            if (doc) void shut(doc);
          }}
          tabs={own.map((doc) => ({
            id: doc.file,
            label: doc.dirty.value ? `${doc.file}, not saved` : doc.file,
            title: (
              <>
                {doc.file.split("/").at(-1)}
                {doc.dirty.value && <span class="dot" title="Not saved" />}
              </>
            ),
          }))}
        />
        <span class="end" />
        {active && (
          <Menu
            quiet
            name={`What to do with ${active.file}`}
            label={<Icon name="gear" />}
            items={[
              { label: "Save", run: () => void save(active) },
              { label: "Format", run: () => void formatText() },
              { label: "Rename the name under the cursor", run: () => void renameSymbol() },
              { label: "Close", run: () => void shut(active) },
            ]}
          />
        )}
      </div>
      <div id={`panel-${kind}`} class="editor-frame" role="tabpanel" aria-label={active?.file ?? title}>
        {active ? <Editor kind={kind} /> : <Empty kind={kind} />}
      </div>
      <Problem kind={kind} />
    </section>
  );
}

function Empty({ kind }: { kind: Kind }) {
  if (kind === "model") return <p class="empty">Open a model on the left.</p>;
  const stem = activeModel.value?.file.replace(/\.[^.]*$/, "") ?? "properties";
  return (
    <div class="empty">
      <p>No properties are open. Questions can also be typed under Answers.</p>
      <button
        type="button"
        class="button"
        onClick={() => add(freeName(`${stem}.props`), "properties", "P=? [ F true ];\n", null)}
      >
        <Icon name="plus" /> New file of properties
      </button>
    </div>
  );
}

/** The first problem of the file, in the words of the command line. */
function Problem({ kind }: { kind: Kind }) {
  const doc = (kind === "model" ? activeModel : activeProperties).value;
  const own = (diagnosis.value?.diagnostics ?? []).filter((one) => one.file === doc?.file);
  // Constants without a value are told where they are set, not here.
  const first = own.find((one) => one.severity === "error") ?? own.find((one) => one.severity === "warning");
  if (!first || !doc) return null;
  const same = own.filter((one) => one.severity === first.severity).length;
  return (
    <button type="button" class={`problem ${first.severity}`} onClick={() => doc.show(first.range)}>
      <strong>
        Line {first.range.line + 1}
        {same > 1 && ` and ${same - 1} more`}
      </strong>
      <span class="grow">
        {first.message}
        {first.hint && <span class="muted"> {first.hint}</span>}
      </span>
    </button>
  );
}
