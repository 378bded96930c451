/** The answers, side by side: value, proved bounds, time, and how it was found. */

import { useSignal } from "@preact/signals";
import { answers, check, checkNow, fresh, live } from "../checking";
import { chooseTab } from "../commands";
import { connection } from "../connection";
import { formatCount, formatNumber, formatSeconds, isNum } from "../format";
import { narrowPane } from "../layout";
import type { Answer } from "../protocol";
import { Running, TroubleBox } from "../question";
import {
  activeModel,
  activeProperties,
  type Asked,
  asked,
  diagnosis,
  given,
  missing,
  modelFile,
  options,
  ownProperties,
  sound,
} from "../state";
import { Icon } from "../ui/icons";
import { Share } from "../ui/share";
import { chosenPareto } from "./pareto";
import { showPareto } from "./synthesis";

export function AnswersPane() {
  const list = asked.value;
  return (
    <div class="stack">
      <AskBox />
      <div class="toolbar">
        <label class="labelled">
          <input
            type="checkbox"
            checked={live.value}
            onChange={(event) => (live.value = event.currentTarget.checked)}
          />
          Answer while I type
        </label>
        <OptionsBox />
        <span class="end" />
        {check.running.value ? (
          <button type="button" class="button stop" onClick={() => check.stop()}>
            <Icon name="stop" /> Stop
          </button>
        ) : (
          <button type="button" class="button" onClick={() => void checkNow()}>
            <Icon name="restart" /> Ask again
          </button>
        )}
        <Share
          what="the answers"
          copied={check.result.value?.copied}
          of={check.result.value ? check.id.value : null}
          formats={["csv", "json"]}
        />
      </div>
      <Running question={check} />
      {check.trouble.value && !check.running.value && <TroubleBox trouble={check.trouble.value} />}
      {check.stopped.value && (
        <p class="muted small" role="status">
          Stopped. “Ask again” goes on.
        </p>
      )}
      <Guidance />
      <div class="cards" aria-live="polite" aria-busy={check.running.value}>
        {list.map((one) => (
          <Card key={one.key} asked={one} />
        ))}
      </div>
      {check.result.value && !check.running.value && <Footer />}
    </div>
  );
}

function AskBox() {
  const text = useSignal("");
  const add = (event: Event) => {
    event.preventDefault();
    const one = text.value.trim().replace(/;$/, "");
    if (!one) return;
    ownProperties.value = [one, ...ownProperties.value.filter((other) => other !== one)];
    text.value = "";
  };
  return (
    <form class="ask" onSubmit={add}>
      <input
        class="field mono grow"
        placeholder="Ask something: P=? [ F x=1 ]"
        aria-label="Ask something about the model"
        spellcheck={false}
        autocomplete="off"
        value={text.value}
        onInput={(event) => (text.value = event.currentTarget.value)}
      />
      <button type="submit" class="button">
        Ask
      </button>
    </form>
  );
}

function Guidance() {
  if (connection.state.value !== "open") return null;
  if (!activeModel.value) return <p class="empty">Open a model, and its answers appear here.</p>;
  if (diagnosis.value && !sound.value) {
    return (
      <p class="empty">
        The model has errors. {answers.value.size > 0 && "What stands below is from before. "}
        Once they are mended, it is asked again.
      </p>
    );
  }
  const [first] = missing.value;
  if (first) {
    const names = missing.value.map((one) => one.name).join(", ");
    return (
      <p class="empty">
        {missing.value.length === 1 ? "One constant needs" : "Some constants need"} a value first: <code>{names}</code>.{" "}
        <button type="button" class="button" onClick={() => document.getElementById(`constant-${first.name}`)?.focus()}>
          Set {first.name}
        </button>
      </p>
    );
  }
  if (asked.value.length === 0) {
    return (
      <p class="empty">
        Nothing is asked yet. Type a question above, such as <code>P=? [ F x=1 ]</code>, or open a file of properties.
      </p>
    );
  }
  return null;
}

function Card({ asked: one }: { asked: Asked }) {
  const answer = answers.value.get(one.key);
  const isFresh = fresh.value.has(one.key);
  const waiting = !isFresh && check.running.value;
  const own = one.info === null;
  return (
    <article class={`card ${isFresh || !answer ? "" : "stale"}`} data-key={one.key} data-fresh={isFresh}>
      <header class="row">
        {one.info ? (
          <button
            type="button"
            class="card-name"
            title="Show it in the text"
            onClick={() => {
              narrowPane.value = "text";
              if (one.info) activeProperties.value?.show(one.info.range);
            }}
          >
            {one.name ?? `Property ${one.info.number}`}
          </button>
        ) : (
          <span class="card-name">Your question</span>
        )}
        <span class="end" />
        {waiting && <span class="badge working">working</span>}
        {own && (
          <button
            type="button"
            class="button quiet icon"
            aria-label={`Remove the question ${one.text}`}
            onClick={() => (ownProperties.value = ownProperties.value.filter((text) => text !== one.text))}
          >
            <Icon name="close" />
          </button>
        )}
        <Share
          compact
          what={`the answer of ${one.name ?? one.text}`}
          unasked={
            modelFile.value
              ? {
                  what: "check",
                  asked: {
                    model: modelFile.value,
                    properties: [one.property],
                    constants: given.value,
                    options: options.value,
                  },
                }
              : null
          }
        />
      </header>
      <code class="card-text">{one.text}</code>
      {one.needs.length > 0 ? (
        <p class="muted small">
          Needs a value for <code>{one.needs.join(", ")}</code>.
        </p>
      ) : (
        <AnswerView answer={answer} waiting={waiting} />
      )}
      {one.info?.multi && (
        <button
          type="button"
          class="button"
          onClick={() => {
            chosenPareto.value = one.key;
            showPareto();
            chooseTab("synthesis");
          }}
        >
          Draw the Pareto front
        </button>
      )}
    </article>
  );
}

function AnswerView({ answer, waiting }: { answer: Answer | undefined; waiting: boolean }) {
  if (!answer) return <p class="card-value pending">{waiting ? "…" : "–"}</p>;
  if (answer.error) return <TroubleBox trouble={answer.error} />;
  const tone = answer.value === true ? "good" : answer.value === false ? "bad" : "";
  return (
    <>
      <p class={`card-value ${tone} ${answer.text.length > 24 ? "long" : ""}`}>
        {answer.text || formatNumber(answer.value)}
      </p>
      {answer.behind && (
        <p class="small">
          {answer.behind.about} <code>{answer.behind.text}</code>
        </p>
      )}
      <BoundsLine answer={answer} />
      {answer.listing.length > 0 && <pre class="listing">{answer.listing.join("\n")}</pre>}
      <p class="small muted card-facts">
        <span title={answer.proved ? "The bounds are proved." : undefined}>
          {answer.proved ? (
            <span class="good">
              <Icon name="check" /> proved
            </span>
          ) : answer.confidence !== null ? (
            `estimated, ${formatNumber(100 * answer.confidence, 4)} % confidence`
          ) : (
            "not proved"
          )}
        </span>
        <span>{formatSeconds(answer.seconds)}</span>
        {answer.states !== null && <span>{formatCount(answer.states)} states</span>}
      </p>
      {answer.warnings.map((line) => (
        <p key={line} class="small warn">
          {line}
        </p>
      ))}
      <details class="how">
        <summary>How</summary>
        <dl>
          <dt>Method</dt>
          <dd>{answer.method || "none was needed"}</dd>
          {answer.about && (
            <>
              <dt>About</dt>
              <dd>{answer.about}</dd>
            </>
          )}
          <dt>Where</dt>
          <dd>{answer.placement}</dd>
        </dl>
        {answer.explain.length > 0 && <pre>{answer.explain.join("\n")}</pre>}
      </details>
    </>
  );
}

/** The bounds as numbers; equal ones are not told twice. */
function BoundsLine({ answer }: { answer: Answer }) {
  const { lower, upper } = answer;
  if (lower === null || upper === null || answer.kind === "truth") return null;
  const width = isNum(lower) && isNum(upper) ? upper - lower : null;
  return (
    <p class="small bounds">
      <span>
        from <code>{formatNumber(lower, 10)}</code>
      </span>
      <span>
        to <code>{formatNumber(upper, 10)}</code>
      </span>
      {width !== null && <span class="muted">{width === 0 ? "exactly" : `${formatNumber(width, 2)} apart`}</span>}
    </p>
  );
}

function Footer() {
  const result = check.result.value;
  if (!result) return null;
  const { model, seconds } = result;
  return (
    <p class="muted small">
      All in {formatSeconds(seconds)}
      {model && `; ${formatCount(model.states)} states, ${formatCount(model.transitions)} transitions`}
    </p>
  );
}

function OptionsBox() {
  const hello = connection.hello.value;
  const now = options.value;
  const set = (more: Partial<typeof now>) => {
    options.value = Object.fromEntries(Object.entries({ ...now, ...more }).filter(([, value]) => value !== undefined));
  };
  return (
    <details class="options">
      <summary>Options{Object.keys(now).length > 0 && ` (${Object.keys(now).length})`}</summary>
      <div class="options-body">
        <label class="labelled">
          Device
          <select
            class="field"
            value={now.device ?? ""}
            onChange={(event) => set({ device: event.currentTarget.value || undefined })}
          >
            <option value="">auto</option>
            {hello?.devices
              .filter((one) => one.name !== "auto")
              .map((one) => (
                <option key={one.name} value={one.name} title={one.words}>
                  {one.name}
                </option>
              ))}
          </select>
        </label>
        <label class="labelled">
          Method
          <select
            class="field"
            value={now.method ?? ""}
            onChange={(event) => set({ method: event.currentTarget.value || undefined })}
          >
            <option value="">the default</option>
            {hello?.methods.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        <label class="labelled">
          Precision
          <select
            class="field"
            value={now.eps ?? ""}
            onChange={(event) =>
              set({ eps: event.currentTarget.value ? Number(event.currentTarget.value) : undefined })
            }
          >
            <option value="">1e-6</option>
            {["0.001", "0.0001", "1e-8", "1e-10"].map((one) => (
              <option key={one} value={Number(one)}>
                {one}
              </option>
            ))}
          </select>
        </label>
        <label class="labelled">
          <input
            type="checkbox"
            checked={!!now.exact}
            onChange={(event) => set({ exact: event.currentTarget.checked || undefined })}
          />
          Exact fractions
        </label>
        <label class="labelled">
          <input
            type="checkbox"
            checked={!!now.sim}
            onChange={(event) => set({ sim: event.currentTarget.checked || undefined })}
          />
          Estimate by random paths
        </label>
        <label class="labelled">
          <input
            type="checkbox"
            checked={!!now.fair}
            onChange={(event) => set({ fair: event.currentTarget.checked || undefined })}
          />
          Fair strategies only
        </label>
      </div>
    </details>
  );
}
