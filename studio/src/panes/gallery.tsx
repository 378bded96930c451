/** Models to begin with. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask, connection } from "../connection";
import { narrowPane } from "../layout";
import { fail, openGallery } from "../project";
import type { GalleryEntry } from "../protocol";
import { Dialog } from "../ui/dialog";

export const galleryShown = signal(false);
const models = signal<readonly GalleryEntry[]>([]);
const filter = signal("");

async function load(): Promise<void> {
  if (models.value.length > 0) return;
  try {
    models.value = (await ask("gallery", {})).models;
  } catch (error) {
    fail(error);
  }
}

export function GalleryList({ inDialog }: { inDialog?: boolean }) {
  const connected = connection.state.value === "open";
  useEffect(() => {
    if (connected) void load();
  }, [connected]);
  const text = filter.value.toLowerCase();
  const shown = models.value.filter((one) =>
    `${one.name} ${one.title} ${one.about} ${one.type}`.toLowerCase().includes(text),
  );
  return (
    <>
      <input
        class="field"
        autofocus={inDialog}
        placeholder="Find a model: die, queue, mdp …"
        aria-label="Find a model of the gallery"
        value={filter.value}
        onInput={(event) => (filter.value = event.currentTarget.value)}
      />
      <ul class="gallery">
        {shown.map((one) => (
          <li key={one.name}>
            <button
              type="button"
              class="gallery-card"
              onClick={() => {
                galleryShown.value = false;
                narrowPane.value = "text";
                void openGallery(one.name);
              }}
            >
              <span class="row">
                <strong>{one.title}</strong>
                <span class="badge">{one.type}</span>
              </span>
              <span class="muted small clamp">{one.about}</span>
            </button>
          </li>
        ))}
      </ul>
      {models.value.length > 0 && shown.length === 0 && <p class="muted">No model has these words.</p>}
    </>
  );
}

export function GalleryDialog() {
  if (!galleryShown.value) return null;
  return (
    <Dialog title="Gallery" wide onClose={() => (galleryShown.value = false)}>
      <p class="muted small">A copy opens; nothing is written to your folder until you save.</p>
      <GalleryList inDialog />
    </Dialog>
  );
}
