import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const server = process.env.LAYOVER_SERVER ?? "http://127.0.0.1:8080";

// `base: "./"`: the page says where it is mounted, so one build serves under any path.
export default defineConfig({
  base: "./",
  plugins: [react()],
  build: {
    target: "es2023",
    outDir: "../src/layover/console/static",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        entryFileNames: "assets/[name]-[hash].js",
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
        // Libraries change less often than our code: each change of ours leaves their files as they are.
        codeSplitting: {
          groups: [
            { name: "react", test: /node_modules[\\/](react|react-dom|scheduler)[\\/]/ },
            { name: "tanstack", test: /node_modules[\\/]@tanstack[\\/]/ },
            { name: "flow", test: /node_modules[\\/](@xyflow|d3-[a-z]+|zustand|classcat)[\\/]/ },
            { name: "editor", test: /node_modules[\\/](@codemirror|@lezer|style-mod|w3c-keyname|crelt)[\\/]/ },
          ],
        },
      },
    },
  },
  worker: { format: "es" },
  server: { proxy: { "/api": server, "/sign-in": server, "/sign-out": server } },
  test: { environment: "jsdom", include: ["tests/**/*.test.{ts,tsx}"] },
});
