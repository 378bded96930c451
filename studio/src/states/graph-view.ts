/** The picture of a small model, by Cytoscape; loaded when the first is drawn. */

import cytoscape from "cytoscape";
import { formatNumber } from "../format";
import { colour } from "../layout";
import type { GraphEdge, GraphState } from "../protocol";
import { layered } from "./layout";

export interface Paint {
  /** By state; null leaves the plain colour. */
  fill: (state: number) => string | null;
  ink: (state: number) => string;
  label: (state: number) => string;
}

export class GraphView {
  private readonly cy: cytoscape.Core;
  private readonly observer: ResizeObserver;

  constructor(
    host: HTMLElement,
    private readonly states: readonly GraphState[],
    edges: readonly GraphEdge[],
    arrange: "layers" | "force",
    onChoose: (state: number) => void,
  ) {
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const points = layered(states, edges);
    this.cy = cytoscape({
      container: host,
      elements: [...states.map((_, i) => ({ data: { id: `s${i}` }, position: points[i]! })), ...merged(edges)],
      layout:
        arrange === "layers"
          ? { name: "preset", fit: true, padding: 24 }
          : ({
              name: "cose",
              animate: !calm && states.length < 150,
              padding: 24,
              nodeRepulsion: () => 9000,
            } as cytoscape.LayoutOptions),
      minZoom: 0.05,
      maxZoom: 3,
      boxSelectionEnabled: false,
      autoungrabify: states.length > 400,
      textureOnViewport: states.length > 600,
    });
    this.cy.on("tap", "node", (event) => onChoose(Number(event.target.id().slice(1))));
    let touched = false;
    this.cy.on("dragpan scrollzoom pinchzoom", () => {
      touched = true;
    });
    this.observer = new ResizeObserver(() => {
      this.cy.resize();
      if (!touched) this.fit();
    });
    this.observer.observe(host);
    this.restyle(null);
    this.fit();
  }

  destroy(): void {
    this.observer.disconnect();
    this.cy.destroy();
  }

  fit(): void {
    this.cy.fit(undefined, 24);
    if (this.cy.zoom() > 1.4) this.cy.zoom(1.4).center();
  }

  /** Draw again with colours of values, and of the page as it is now. */
  restyle(paint: Paint | null): void {
    const many = this.states.length > 150;
    const [text, line, surface, accent, muted] = ["--text", "--line-strong", "--raised", "--accent", "--muted"].map(
      colour,
    );
    const style = this.cy.style().fromJson([
      {
        selector: "node",
        style: {
          width: 34,
          height: 34,
          "background-color": surface!,
          "border-color": line!,
          "border-width": 1.5,
          label: "data(label)",
          color: "data(ink)",
          "font-size": 11,
          "text-valign": "center",
          "text-halign": "center",
        },
      },
      { selector: "node[fill]", style: { "background-color": "data(fill)" } },
      { selector: "node.initial", style: { "border-width": 4, "border-color": accent! } },
      {
        selector: "edge",
        style: {
          width: 1.3,
          "line-color": line!,
          "target-arrow-color": line!,
          "target-arrow-shape": "triangle",
          "arrow-scale": 0.8,
          "curve-style": "bezier",
          "loop-direction": "60deg",
          "loop-sweep": "50deg",
          label: many ? "" : "data(label)",
          "font-size": 9.5,
          color: muted!,
          "text-background-color": colour("--surface"),
          "text-background-opacity": 0.85,
          "text-background-padding": "1px",
        },
      },
      { selector: "node.found", style: { "border-color": colour("--warn"), "border-width": 5 } },
      { selector: "node.dim", style: { opacity: 0.45 } },
      { selector: "node.chosen", style: { "border-color": accent!, "border-width": 5, "border-style": "double" } },
      {
        selector: "edge.out",
        style: { width: 2.6, "line-color": accent!, "target-arrow-color": accent!, "z-index": 9 },
      },
    ] as unknown as cytoscape.StylesheetJson);
    style.update();
    this.cy.batch(() => {
      this.states.forEach((state, i) => {
        const node = this.cy.getElementById(`s${i}`);
        const fill = paint?.fill(i) ?? null;
        node.data("label", paint ? paint.label(i) : String(i));
        node.data("ink", fill ? paint!.ink(i) : text);
        if (fill) node.data("fill", fill);
        else node.removeData("fill");
        node.toggleClass("initial", state.initial);
      });
    });
  }

  /** Mark what a search found; null marks nothing. */
  mark(found: ReadonlySet<number> | null): void {
    this.cy.batch(() => {
      this.states.forEach((_, i) => {
        const node = this.cy.getElementById(`s${i}`);
        node.toggleClass("found", !!found?.has(i));
        node.toggleClass("dim", !!found && !found.has(i));
      });
    });
  }

  choose(state: number | null): void {
    this.cy.batch(() => {
      this.cy.elements(".chosen, .out").removeClass("chosen out");
      if (state === null) return;
      const node = this.cy.getElementById(`s${state}`);
      node.addClass("chosen");
      node.outgoers("edge").addClass("out");
    });
    if (state === null) return;
    const node = this.cy.getElementById(`s${state}`);
    const box = node.renderedBoundingBox();
    const inside = box.x1 > 0 && box.y1 > 0 && box.x2 < this.cy.width() && box.y2 < this.cy.height();
    if (!inside) this.cy.center(node);
  }

  /** The state that lies next in a direction, for the arrow keys. */
  beside(state: number, direction: "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown"): number {
    const here = this.cy.getElementById(`s${state}`).position();
    const along = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[direction] as [
      number,
      number,
    ];
    let best = state;
    let least = Number.POSITIVE_INFINITY;
    this.states.forEach((_, i) => {
      if (i === state) return;
      const { x, y } = this.cy.getElementById(`s${i}`).position();
      const [dx, dy] = [x - here.x, y - here.y];
      const ahead = dx * along[0] + dy * along[1];
      if (ahead <= 1) return;
      const cost = ahead + 2.5 * Math.abs(dx * along[1] - dy * along[0]);
      if (cost < least) {
        least = cost;
        best = i;
      }
    });
    return best;
  }

  png(): string {
    return this.cy.png({ full: true, scale: 2, bg: colour("--surface"), maxWidth: 4000, maxHeight: 4000 });
  }
}

/** One arrow for each pair of states and choice, with its action and number. */
function merged(edges: readonly GraphEdge[]): cytoscape.ElementDefinition[] {
  return edges.map((edge, i) => ({
    data: {
      id: `e${i}`,
      source: `s${edge.from}`,
      target: `s${edge.to}`,
      label: [edge.action, formatNumber(edge.number, 3)].filter(Boolean).join(" "),
    },
  }));
}
