/** The one WebSocket of the page: asks go out with a number, events of that number come back. */

import { signal } from "@preact/signals";
import type { AskName, Asks, Hello, News, Progress, Reply, StopReason, Trouble } from "./protocol";

/** The server said no, in words for people. */
export class TroubleError extends Error {
  constructor(readonly trouble: Trouble) {
    super(trouble.message);
  }
}

/** The ask ended without an answer, because somebody or something stopped it. */
export class StoppedError extends Error {
  constructor(readonly reason: StopReason) {
    super(reason === "closed" ? "The connection to the server was closed." : "Stopped.");
  }
}

export interface Asking<A extends AskName> {
  id: number;
  done: Promise<Asks[A]["result"]>;
  stop(): void;
}

export interface How<A extends AskName> {
  slot?: string;
  onPart?: (part: Asks[A]["part"]) => void;
  onProgress?: (progress: Progress) => void;
}

interface Pending {
  reply: (reply: Reply) => void;
  close: () => void;
}

type NewsListener = (news: News) => void;

export class Connection {
  readonly state = signal<"connecting" | "open" | "lost">("connecting");
  readonly hello = signal<Hello | null>(null);
  private socket: WebSocket | null = null;
  private pending = new Map<number, Pending>();
  private queue: string[] = [];
  private last = 0;
  private attempts = 0;
  private listeners: NewsListener[] = [];
  /** The server let the page go because nobody was there: it waits for somebody. */
  private asleep = false;

  onNews(listener: NewsListener): void {
    this.listeners.push(listener);
  }

  open(): void {
    const url = new URL("ws", document.baseURI);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    this.state.value = "connecting";
    const socket = new WebSocket(url);
    this.socket = socket;
    socket.onmessage = (event) => this.receive(JSON.parse(String(event.data)) as Reply | News);
    socket.onclose = () => this.closed();
  }

  ask<A extends AskName>(ask: A, fields: Asks[A]["ask"], how: How<A> = {}): Asking<A> {
    const id = ++this.last;
    const done = new Promise<Asks[A]["result"]>((resolve, reject) => {
      this.pending.set(id, {
        close: () => reject(new StoppedError("closed")),
        reply: (reply) => {
          if (reply.event === "progress") return how.onProgress?.(reply.progress);
          if (reply.event === "part") return how.onPart?.(reply.part as Asks[A]["part"]);
          this.pending.delete(id);
          if (reply.event === "result") resolve(reply.result as Asks[A]["result"]);
          else if (reply.event === "error") reject(new TroubleError(reply.error));
          else reject(new StoppedError(reply.reason));
        },
      });
    });
    this.send({ ...fields, id, ask, ...(how.slot === undefined ? {} : { slot: how.slot }) });
    return { id, done, stop: () => this.send({ ask: "stop", stop: id }) };
  }

  private send(message: object): void {
    const text = JSON.stringify(message);
    if (this.state.value === "open") this.socket?.send(text);
    else this.queue.push(text);
  }

  private receive(message: Reply | News): void {
    if (message.id !== 0) {
      this.pending.get(message.id)?.reply(message as Reply);
      return;
    }
    const news = message as News;
    if (news.event === "hello") {
      this.attempts = 0;
      this.hello.value = news.hello;
      this.state.value = "open";
    }
    if (news.event === "goodbye") this.asleep = true;
    for (const listener of this.listeners) listener(news);
    if (news.event === "hello") for (const text of this.queue.splice(0)) this.socket?.send(text);
  }

  private wake = () => {
    if (this.state.value === "lost") this.open();
  };

  private closed(): void {
    this.state.value = "lost";
    this.queue = [];
    const pending = [...this.pending.values()];
    this.pending.clear();
    for (const one of pending) one.close();
    if (this.asleep) {
      this.asleep = false;
      for (const event of ["pointerdown", "keydown"]) window.addEventListener(event, this.wake, { once: true });
      return;
    }
    this.attempts += 1;
    if (this.attempts <= 8) window.setTimeout(() => this.open(), Math.min(250 * 2 ** this.attempts, 8000));
  }
}

export const connection = new Connection();

/** Ask, and wait for the answer. */
export function ask<A extends AskName>(name: A, fields: Asks[A]["ask"], how?: How<A>): Promise<Asks[A]["result"]> {
  return connection.ask(name, fields, how).done;
}

/** What went wrong as a trouble; null if it was only stopped. */
export function troubleOf(error: unknown): Trouble | null {
  if (error instanceof TroubleError) return error.trouble;
  if (error instanceof StoppedError) {
    if (error.reason !== "closed") return null;
    return plainTrouble(error.message, "Start galton studio again if it has ended; the page connects by itself.");
  }
  return plainTrouble(error instanceof Error ? error.message : String(error), null);
}

export function plainTrouble(message: string, hint: string | null): Trouble {
  return { kind: "internal", message, text: hint ? `${message}\n${hint}` : message, hint, file: null, range: null };
}
