/** The line at the bottom: the model, its problems, what runs, and whether the server is there. */

import { connection } from "../connection";
import { plural } from "../format";
import { running, stopAll } from "../question";
import { activeModel, diagnosis, errorCount } from "../state";

export function StatusBar() {
  const state = connection.state.value;
  const errors = errorCount.value;
  const type = diagnosis.value?.type;
  return (
    <footer class="status">
      {state !== "open" ? (
        <span class="bad" role="alert">
          {state === "connecting" ? "Connecting …" : "The server does not answer. Start galton studio again."}{" "}
          {state === "lost" && (
            <button type="button" class="link" onClick={() => location.reload()}>
              Reload
            </button>
          )}
        </span>
      ) : (
        <span>{activeModel.value ? activeModel.value.file : "No model is open"}</span>
      )}
      {type && <span class="badge">{type.toUpperCase()}</span>}
      {activeModel.value && diagnosis.value && (
        <span class={errors ? "bad" : ""}>{errors ? plural(errors, "error") : "no errors"}</span>
      )}
      <span class="end" />
      {running.value.length > 0 && (
        <>
          <span>{running.value.map((one) => one.words).join(", ")}</span>
          <button type="button" class="link" onClick={stopAll}>
            Stop
          </button>
        </>
      )}
      <span class="wide-only">{connection.hello.value && `Galton ${connection.hello.value.version}`}</span>
    </footer>
  );
}
