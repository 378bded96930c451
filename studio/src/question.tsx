/** A question that takes a while: its progress, its answer or its trouble, and the button that stops it. */

import { computed, signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Asking, connection, troubleOf } from "./connection";
import { formatSeconds } from "./format";
import { goTo } from "./project";
import type { AskName, Asks, Progress, Trouble } from "./protocol";
import { Icon } from "./ui/icons";

/** All that run now, for the status bar and for "stop everything". */
export const running = signal<readonly Question<AskName>[]>([]);
export const busy = computed(() => running.value.length > 0);

export class Question<A extends AskName> {
  readonly running = signal(false);
  readonly progress = signal<Progress | null>(null);
  readonly trouble = signal<Trouble | null>(null);
  readonly result = signal<Asks[A]["result"] | null>(null);
  /** Somebody pressed stop. */
  readonly stopped = signal(false);
  /** The ask that the result is of, for exports. */
  readonly id = signal(0);
  readonly began = signal(0);
  private asking: Asking<A> | null = null;

  constructor(
    readonly name: A,
    /** What is being done, in words. */
    readonly words: string,
    private readonly slot: string = name,
  ) {}

  async ask(fields: Asks[A]["ask"], onPart?: (part: Asks[A]["part"]) => void): Promise<Asks[A]["result"] | null> {
    const asking = connection.ask(this.name, fields, {
      slot: this.slot,
      onPart: (part) => this.asking === asking && onPart?.(part),
      onProgress: (progress) => {
        if (this.asking === asking) this.progress.value = progress;
      },
    });
    this.asking = asking;
    this.progress.value = null;
    this.stopped.value = false;
    this.began.value = performance.now();
    this.running.value = true;
    const self = this as unknown as Question<AskName>;
    if (!running.value.includes(self)) running.value = [...running.value, self];
    try {
      const result = await asking.done;
      if (this.asking !== asking) return null;
      this.result.value = result;
      this.id.value = asking.id;
      this.trouble.value = null;
      return result;
    } catch (error) {
      if (this.asking === asking) this.trouble.value = troubleOf(error);
      return null;
    } finally {
      if (this.asking === asking) this.end();
    }
  }

  stop(): void {
    if (!this.asking) return;
    this.asking.stop();
    this.stopped.value = true;
    this.end();
  }

  clear(): void {
    this.result.value = null;
    this.trouble.value = null;
    this.stopped.value = false;
  }

  private end(): void {
    this.asking = null;
    this.running.value = false;
    running.value = running.value.filter((one) => one !== (this as unknown as Question<AskName>));
  }
}

export function stopAll(): void {
  for (const question of running.value) question.stop();
}

/** How far a question is, with its stop button. Shown only once it takes noticeably long. */
export function Running<A extends AskName>({ question }: { question: Question<A> }) {
  const now = useSignal(performance.now());
  const isRunning = question.running.value;
  useEffect(() => {
    if (!isRunning) return;
    now.value = performance.now();
    const timer = window.setInterval(() => {
      now.value = performance.now();
    }, 200);
    return () => window.clearInterval(timer);
  }, [isRunning, now]);
  if (!isRunning) return null;
  const seconds = Math.max(0, now.value - question.began.value) / 1000;
  if (seconds < 0.15) return <div class="running waiting" />;
  const progress = question.progress.value;
  return (
    <div class="running" role="status">
      <progress
        aria-label={question.words}
        {...(progress?.total ? { max: progress.total, value: progress.done ?? 0 } : {})}
      />
      <span class="grow">{progress?.words || `${question.words}, ${formatSeconds(seconds)}`}</span>
      <button type="button" class="button stop" onClick={() => question.stop()}>
        <Icon name="stop" /> Stop
      </button>
    </div>
  );
}

export function TroubleBox({ trouble }: { trouble: Trouble }) {
  const { file, range } = trouble;
  return (
    <div class="trouble" role="alert">
      <pre>{trouble.text || trouble.message}</pre>
      {trouble.hint && !trouble.text.includes(trouble.hint) && <p>{trouble.hint}</p>}
      {file && range && (
        <button type="button" class="button quiet" onClick={() => void goTo(file, range)}>
          Show the place
        </button>
      )}
    </div>
  );
}

/** What belongs under every question: progress, trouble, or that it was stopped. */
export function Outcome<A extends AskName>({ question }: { question: Question<A> }) {
  const trouble = question.trouble.value;
  return (
    <>
      <Running question={question} />
      {!question.running.value && trouble && <TroubleBox trouble={trouble} />}
      {question.stopped.value && (
        <p class="muted small" role="status">
          Stopped.
        </p>
      )}
    </>
  );
}
