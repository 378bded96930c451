// Starts `galton lsp` and lets the editor talk to it. Everything else is in the server.
import { commands, ExtensionContext, window, workspace } from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

function settings() {
  return workspace.getConfiguration("galton");
}

async function start(): Promise<void> {
  const [command, ...args] = settings().get<string[]>("command", ["galton", "lsp"]);
  client = new LanguageClient(
    "galton",
    "Galton",
    { command, args },
    {
      documentSelector: [{ language: "prism-model" }, { language: "prism-properties" }],
      initializationOptions: { constants: settings().get("constants") },
      synchronize: { configurationSection: "galton" },
    },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const advice = "Install it with pip install 'galton[lsp]', or set galton.command to where it is.";
    void window.showErrorMessage(`Galton could not start “${[command, ...args].join(" ")}”. ${advice} (${error})`);
  }
}

export async function activate(context: ExtensionContext): Promise<void> {
  context.subscriptions.push(
    commands.registerCommand("galton.restart", async () => {
      await deactivate();
      await start();
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}
