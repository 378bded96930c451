import "./styles/base.css";
import "./styles/layout.css";
import "./styles/panes.css";
import "./styles/libraries.css";
import { render } from "preact";
import { App } from "./app";
import { bindShortcuts } from "./commands";
import { start } from "./project";

const root = document.getElementById("studio");
if (root) render(<App />, root);
bindShortcuts();
start();
