/** One editor. CodeMirror lives in a shadow root: there its styles need no inline style elements. */

import { type Diagnostic as CmDiagnostic, setDiagnostics } from "@codemirror/lint";
import { EditorView } from "@codemirror/view";
import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Doc, Kind } from "../documents";
import type { Diagnostic } from "../protocol";
import { activeModel, activeProperties, diagnosis } from "../state";

export function Editor({ kind }: { kind: Kind }) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const shown = useRef<Doc | null>(null);
  const active = kind === "model" ? activeModel : activeProperties;

  useEffect(() => {
    if (!host.current) return;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
    const created = new EditorView({ root, parent: root });
    view.current = created;
    // When something else takes room, the line that is being written stays in sight.
    const observer = new ResizeObserver(() => {
      if (created.hasFocus) created.dispatch({ effects: EditorView.scrollIntoView(created.state.selection.main.head) });
    });
    observer.observe(host.current);
    show(active.peek());
    return () => {
      if (shown.current) shown.current.view = null;
      shown.current = null;
      observer.disconnect();
      created.destroy();
    };
  }, []);

  const show = (doc: Doc | null) => {
    if (!view.current || !doc || shown.current === doc) return;
    if (shown.current) shown.current.view = null;
    shown.current = doc;
    view.current.setState(doc.state);
    doc.view = view.current;
  };

  useSignalEffect(() => {
    show(active.value);
    const doc = active.value;
    const result = diagnosis.value;
    if (!doc || !view.current || shown.current !== doc) return;
    const own = (result?.diagnostics ?? []).filter((one) => one.file === doc.file);
    doc.errors.value = own.filter((one) => one.severity === "error").length;
    // A diagnosis of an older text would point at the wrong places; the next is on its way.
    const version = result?.versions[doc.file];
    if (version !== undefined && version !== doc.told) return;
    const length = doc.state.doc.length;
    view.current.dispatch(
      setDiagnostics(
        view.current.state,
        own.map((one) => mark(one, length)),
      ),
    );
  });

  return <div ref={host} class="editor-host" data-editor={kind} />;
}

function mark(one: Diagnostic, length: number): CmDiagnostic {
  const from = Math.min(one.range.from, length);
  return {
    from,
    to: Math.min(Math.max(one.range.to, from), length),
    severity: one.severity === "information" ? "info" : one.severity,
    message: one.hint && !one.message.includes(one.hint) ? `${one.message}\n${one.hint}` : one.message,
  };
}
