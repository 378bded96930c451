import { defineConfig } from "vite";

// Everything is bundled, and nothing is inlined into the page: the server forbids inline scripts and styles.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/galton/studio/static",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000,
    target: "es2022",
  },
});
