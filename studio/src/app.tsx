/** The page as a whole: a bar above, files on the left, texts in the middle, work on the right. */

import { useComputed } from "@preact/signals";
import { checkNow } from "./checking";
import { chooseTab, HelpDialog, helpShown } from "./commands";
import { connection } from "./connection";
import { BENCH_TABS, benchShare, benchTab, type NarrowPane, narrowPane, sidebarShown, theme } from "./layout";
import { AnswersPane } from "./panes/answers";
import { ConstantsBar } from "./panes/constants";
import { CurvesPane } from "./panes/curves";
import { FilesPane } from "./panes/files";
import { GalleryDialog, galleryShown } from "./panes/gallery";
import { SimulatePane } from "./panes/simulate";
import { StatesPane } from "./panes/states";
import { StatusBar } from "./panes/status";
import { SynthesisPane } from "./panes/synthesis";
import { TextsPane } from "./panes/texts";
import { docs } from "./state";
import { PromptDialog } from "./ui/dialog";
import { Icon } from "./ui/icons";
import { Splitter } from "./ui/splitter";
import { Tabs } from "./ui/tabs";
import { Toasts } from "./ui/toasts";

export function App() {
  const style = useComputed(() => ({ "--bench-share": `${benchShare.value}%` }));
  return (
    <div
      class="app"
      data-narrow={narrowPane.value}
      data-sidebar={sidebarShown.value ? "shown" : "hidden"}
      style={style.value}
    >
      <TopBar />
      <NarrowBar />
      <div class="main">
        {(sidebarShown.value || narrowPane.value === "files") && <FilesPane />}
        <TextsPane />
        <Splitter label="Width of the work area" share={benchShare} axis="x" />
        <main id="pane-work" class="pane work" tabIndex={-1} aria-label="Work area">
          <ConstantsBar />
          <Tabs
            name="work"
            label="What to do with the model"
            tabs={BENCH_TABS}
            chosen={benchTab.value}
            onChoose={(id) => chooseTab(id as typeof benchTab.value)}
          />
          <div
            id="panel-work"
            class="panel"
            role="tabpanel"
            aria-labelledby={`tab-work-${benchTab.value}`}
            tabIndex={-1}
          >
            <Bench />
          </div>
        </main>
      </div>
      <StatusBar />
      <GalleryDialog />
      <HelpDialog />
      <PromptDialog />
      <Toasts />
    </div>
  );
}

function Bench() {
  switch (benchTab.value) {
    case "answers":
      return <AnswersPane />;
    case "curves":
      return <CurvesPane />;
    case "states":
      return <StatesPane />;
    case "simulate":
      return <SimulatePane />;
    case "synthesis":
      return <SynthesisPane />;
  }
}

function TopBar() {
  const unsaved = docs.value.some((doc) => doc.dirty.value);
  const next = { system: "light", light: "dark", dark: "system" } as const;
  const hello = connection.hello.value;
  return (
    <header class="top">
      <button
        type="button"
        class="button quiet icon wide-only"
        aria-label="Files and outline"
        aria-expanded={sidebarShown.value}
        onClick={() => (sidebarShown.value = !sidebarShown.value)}
      >
        <Icon name="list" />
      </button>
      <h1>
        <img src="./icon.svg" alt="" width="22" height="22" /> <span class="wide-only">Galton studio</span>
      </h1>
      <span class="project" title="The project folder">
        {hello?.project.name}
        {unsaved && <span class="muted"> · not all is saved</span>}
      </span>
      <span class="end" />
      <button type="button" class="button quiet" onClick={() => (galleryShown.value = true)}>
        Gallery
      </button>
      <button
        type="button"
        class="button quiet icon"
        aria-label={`Colours: ${theme.value}. Change to ${next[theme.value]}`}
        title={`Colours: ${theme.value}`}
        onClick={() => (theme.value = next[theme.value])}
      >
        <Icon name={theme.value === "dark" ? "moon" : "sun"} />
        <span class="wide-only">{{ system: "System", light: "Light", dark: "Dark" }[theme.value]}</span>
      </button>
      <button
        type="button"
        class="button quiet"
        aria-label="Help F1: commands and shortcuts"
        onClick={() => (helpShown.value = true)}
      >
        <Icon name="help" />
        <span class="wide-only">
          Help <kbd>F1</kbd>
        </span>
      </button>
      <button
        type="button"
        class="button primary"
        title="Ctrl+Enter"
        onClick={() => {
          chooseTab("answers");
          void checkNow();
        }}
      >
        <Icon name="play" /> Check
      </button>
    </header>
  );
}

/** On a narrow screen: which of the three parts is seen. */
function NarrowBar() {
  const panes: { id: NarrowPane; title: string }[] = [
    { id: "files", title: "Files" },
    { id: "text", title: "Text" },
    { id: "work", title: "Work" },
  ];
  return (
    <nav class="narrow-bar" aria-label="Parts of the page">
      {panes.map((pane) => (
        <button
          type="button"
          key={pane.id}
          aria-current={narrowPane.value === pane.id ? "page" : undefined}
          onClick={() => (narrowPane.value = pane.id)}
        >
          {pane.title}
        </button>
      ))}
    </nav>
  );
}
