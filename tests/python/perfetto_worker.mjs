// Runs the trace processor of Perfetto's page outside of a browser: `node perfetto_worker.mjs DIST ASKED ANSWERED`.
// The page's worker is given a port, over which bytes of TraceProcessorRpcStream go both ways; here they come
// from one file and go to another.
import { readFileSync, writeFileSync } from "node:fs";
import vm from "node:vm";

const [dist, asked, answered] = process.argv.slice(2);
const answers = [];
const port = { postMessage: (bytes) => answers.push(Buffer.from(bytes)), onmessage: null };
const complain = (words) => process.stderr.write(`${String(words).slice(0, 2000)}\n`);
const world = {
  console: { log() {}, warn: complain, error: complain },
  WorkerGlobalScope: function () {},
  location: { href: `file://${dist}/engine_bundle.js` },
  performance, TextDecoder, TextEncoder, URL, crypto, setTimeout, clearTimeout, queueMicrotask,
  // The one thing that it loads: itself, compiled.
  XMLHttpRequest: class {
    open(method, url) { this.url = url; }
    send() {
      this.response = inside(readFileSync(`${dist}/${String(this.url).split("/").pop()}`)).buffer;
      this.status = 200;
    }
  },
};
world.self = world;
vm.createContext(world);
const inside = vm.runInContext("(bytes) => Uint8Array.from(bytes)", world);
try {
  vm.runInContext(readFileSync(`${dist}/engine_bundle.js`, "utf8"), world);
} catch (error) {
  complain(error.message || error);
  process.exit(1);
}
world.onmessage({ data: port });
// Its buffer for what it is asked is there once all that began with it has ended.
setTimeout(() => {
  try {
    port.onmessage({ data: inside(readFileSync(asked)) });
  } catch (error) {
    complain(error.message || error);
    process.exit(1);
  }
  writeFileSync(answered, Buffer.concat(answers));
}, 0);
