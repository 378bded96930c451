import { defineConfig } from "vite";

// Everything is bundled, and nothing is inlined into the page: the server forbids inline scripts and styles.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/galton/studio/static",
    emptyOutDir: true,
    license: { fileName: "licenses.md" }, // of the libraries in the bundle, which ask for it
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000,
    target: "es2022",
  },
});
