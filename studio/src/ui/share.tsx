/** "Take it home": copy as a command or as Python, and export as files. On everything that the page shows. */

import { ask } from "../connection";
import { fail } from "../project";
import type { AskName, Asks, Copied, ExportFormat } from "../protocol";
import { Icon } from "./icons";
import { type Item, Menu } from "./menu";
import { say } from "./toast";

export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied ${what}.`);
  } catch {
    say("The browser did not let the page write to the clipboard.", "error");
  }
}

export function download(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function downloadUrl(name: string, url: string): void {
  const [head = "", body = ""] = url.split(",", 2);
  const type = /^data:([^;,]*)/.exec(head)?.[1] ?? "application/octet-stream";
  download(name, head.includes("base64") ? fromBase64(body, type) : new Blob([decodeURIComponent(body)], { type }));
}

function fromBase64(text: string, type: string): Blob {
  return new Blob([Uint8Array.from(atob(text), (char) => char.charCodeAt(0))], { type });
}

async function exportAs(of: number, format: ExportFormat): Promise<void> {
  try {
    const result = await ask("export", { of, format });
    if ("base64" in result) download(result.name, fromBase64(result.base64, result.type));
    else say(`Saved as ${result.saved}.`);
  } catch (error) {
    fail(error);
  }
}

interface Props<A extends AskName> {
  /** What is shared, for the name of the button: "the answers". */
  what: string;
  copied?: Copied | null;
  /** Where there is no answer yet, the server words the command for the ask. */
  unasked?: { what: A; asked: Asks[A]["ask"] } | null;
  /** The ask whose answer is exported by the server, and the formats it has. */
  of?: number | null;
  formats?: readonly ExportFormat[];
  /** Only the icon. */
  compact?: boolean;
  /** What the page itself can save. */
  more?: readonly Item[];
}

export function Share<A extends AskName>({ what, copied, unasked, of, formats = [], compact, more = [] }: Props<A>) {
  const copy = async (how: keyof Copied, words: string) => {
    try {
      const texts = copied ?? (unasked ? await ask("copy", unasked as Asks["copy"]["ask"]) : null);
      if (!texts) return say("Nothing has been asked yet.");
      if (!texts[how]) return say(`There is no ${words} for this.`);
      await copyText(texts[how], `the ${words}`);
    } catch (error) {
      fail(error);
    }
  };
  const items: Item[] = [
    { label: "Copy as command", run: () => void copy("command", "command") },
    { label: "Copy as Python", run: () => void copy("python", "Python script") },
    ...more,
    ...(of
      ? formats.map((format) => ({ label: `Export ${format.toUpperCase()}`, run: () => void exportAs(of, format) }))
      : []),
  ];
  return (
    <Menu
      quiet
      name={`Share ${what}`}
      items={items}
      label={
        <>
          <Icon name="share" /> {!compact && "Share"}
        </>
      }
    />
  );
}
