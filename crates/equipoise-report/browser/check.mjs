// Opens a page in headless Chromium, as a reader would, and sees that it does what it says.
//
//   node check.mjs PAGE.html [FOLDER for screenshots]
//
// No console errors, no request beside the page itself, every chart has data and layers, hovering shows values, buttons
// change scales, names hide series, figures are saved as CSV and PNG, light and dark differ, it can be printed, nothing is wider than a
// telephone. Speaks the DevTools protocol over a pipe and needs nothing but Node and Chromium (CHROMIUM names another program).

import { spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [page, shots] = process.argv.slice(2);
if (!page) {
  console.error("usage: node check.mjs PAGE.html [FOLDER]");
  process.exit(2);
}
const address = pathToFileURL(resolve(page)).href;
const profile = mkdtempSync(join(tmpdir(), "equipoise-browser-"));
const browser = spawn(process.env.CHROMIUM ?? "chromium", [
  "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", `--user-data-dir=${profile}`,
  "--remote-debugging-pipe", "about:blank",
], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
browser.on("error", (error) => { console.error(`cannot start Chromium: ${error.message}`); process.exit(3); });

const [out, from] = [browser.stdio[3], browser.stdio[4]];
const waiting = new Map();
const events = [];
let [next, rest] = [1, ""];
from.on("data", (part) => {
  rest += part;
  for (let end = rest.indexOf("\0"); end >= 0; end = rest.indexOf("\0")) {
    const message = JSON.parse(rest.slice(0, end));
    rest = rest.slice(end + 1);
    if (message.id) {
      const { keep, fail } = waiting.get(message.id);
      waiting.delete(message.id);
      message.error ? fail(new Error(message.error.message)) : keep(message.result);
    } else {
      events.push(message);
    }
  }
});
let session;
const send = (method, params = {}) => new Promise((keep, fail) => {
  const id = next++;
  waiting.set(id, { keep, fail });
  out.write(JSON.stringify({ id, method, params, sessionId: session }) + "\0");
});
const pause = (ms) => new Promise((go) => setTimeout(go, ms));
const evaluate = async (expression) => {
  const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
};
const problems = [];
const expect = (holds, words) => { if (!holds) problems.push(words); };

async function open(width, height, mobile, dark) {
  await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: mobile ? 2 : 1, mobile });
  await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
  await send("Page.navigate", { url: address });
  for (let k = 0; k < 200; k++) {
    await pause(50);
    if (await evaluate("document.readyState === 'complete' && location.protocol === 'file:'")) return;
  }
  throw new Error("the page did not load within 10 s");
}

// All of the page, or what is on the screen: for the first the page is laid out anew, and what the pointer shows is gone.
async function shoot(name, whole = true) {
  if (!shots) return;
  mkdirSync(shots, { recursive: true });
  const { data } = await send("Page.captureScreenshot", { format: "png", captureBeyondViewport: whole });
  writeFileSync(join(shots, `${name}.png`), Buffer.from(data, "base64"));
}

// As on paper: one drawing of every figure, the wide one, no buttons, black on white; every page as wide as the paper.
async function print(figures) {
  await send("Emulation.setEmulatedMedia", { media: "print", features: [{ name: "prefers-color-scheme", value: "dark" }] });
  const paper = await evaluate(`({
    shown: [...document.querySelectorAll('.figure')].map((figure) =>
      [...figure.querySelectorAll('.chart > svg')].filter((one) => getComputedStyle(one).display !== 'none').map((one) => one.classList[0]).join()),
    buttons: [...document.querySelectorAll('.tools, #theme, nav')].filter((one) => getComputedStyle(one).display !== 'none').length,
    ground: getComputedStyle(document.body).backgroundColor,
    ink: getComputedStyle(document.body).color,
  })`);
  expect(paper.shown.length === figures && paper.shown.every((one) => one === "wide"), `on paper figures are ${paper.shown}`);
  expect(paper.buttons === 0, "on paper there are buttons");
  expect(paper.ground === "rgb(255, 255, 255)" && paper.ink === "rgb(0, 0, 0)", `on paper it is ${paper.ink} on ${paper.ground}`);
  const { data } = await send("Page.printToPDF", { printBackground: true });
  expect(Buffer.from(data, "base64").subarray(0, 5).toString() === "%PDF-", "printing gives no PDF");
  if (shots) writeFileSync(join(shots, "print.pdf"), Buffer.from(data, "base64"));
}

async function main() {
  const { targetInfos } = await send("Target.getTargets");
  const target = targetInfos.find((one) => one.type === "page");
  ({ sessionId: session } = await send("Target.attachToTarget", { targetId: target.targetId, flatten: true }));
  for (const domain of ["Page", "Runtime", "Network", "Log"]) await send(`${domain}.enable`);

  await open(1280, 900, false, false);
  const figures = await evaluate("[...document.querySelectorAll('.figure')].map((f) => f.id)");
  expect(figures.length > 0, "there is no figure");
  const light = await evaluate("getComputedStyle(document.body).backgroundColor");
  for (const id of figures) {
    const state = await evaluate(`(() => {
      const figure = document.getElementById(${JSON.stringify(id)});
      const data = JSON.parse(figure.querySelector('.data').textContent);
      const shown = [...figure.querySelectorAll('.chart > svg')].filter((svg) => getComputedStyle(svg).display !== 'none');
      return {
        points: data.series.reduce((sum, one) => sum + one.points.length, 0),
        empty: data.series.filter((one) => one.name !== null && !one.points.length).map((one) => one.name),
        shown: shown.length,
        drawn: shown.length ? shown[0].querySelectorAll('[data-layer] polyline, [data-layer] circle, [data-layer] polygon, [data-layer] rect').length : 0,
        unseen: data.series.flatMap((one, k) => {
          if (one.name === null || !shown.length) return [];
          const next = data.series[k + 1];
          const own = next && next.name === null && next.colour === one.colour ? [k, k + 1] : [k];
          const seen = own.some((at) => [...shown[0].querySelectorAll(\`[data-layer="\${at}"] *\`)].some((node) => {
            if (!['polyline', 'polygon', 'circle', 'rect'].includes(node.tagName)) return false;
            const box = node.getBBox();
            return box.width + box.height > 4;
          }));
          return seen ? [] : [one.name];
        }),
        label: shown.length ? shown[0].getAttribute('aria-label') : '',
        names: figure.querySelectorAll('.legend button').length,
        scales: figure.querySelectorAll('.scale').length,
      };
    })()`);
    expect(state.points > 0, `${id}: no data`);
    expect(state.empty.length === 0, `${id}: nothing under ${state.empty}`);
    expect(state.shown === 1, `${id}: ${state.shown} drawings at once`);
    expect(state.drawn > 0, `${id}: nothing is drawn`);
    expect(state.unseen.length === 0, `${id}: nothing is seen of ${state.unseen}`);
    expect(state.label.length > 10, `${id}: no words for those who do not see it`);
    // Point at the middle of the chart: values appear.
    const spot = await evaluate(`(() => {
      const figure = document.getElementById(${JSON.stringify(id)});
      figure.scrollIntoView({ block: 'center' });
      const svg = [...figure.querySelectorAll('.chart > svg')].find((one) => getComputedStyle(one).display !== 'none');
      const box = svg.getBoundingClientRect();
      const [left, right, top, bottom] = svg.dataset.frame.split(',').map(Number);
      const unit = box.width / svg.viewBox.baseVal.width;
      return { x: box.left + unit * (left + right) / 2, y: box.top + unit * (top + bottom) / 2 };
    })()`);
    await send("Input.dispatchMouseEvent", { type: "mouseMoved", ...spot });
    const tip = await evaluate(`(() => {
      const tip = document.getElementById(${JSON.stringify(id)}).querySelector('.tip');
      return tip.hidden ? '' : tip.textContent;
    })()`);
    expect(/\d/.test(tip), `${id}: pointing at it shows no value`);
    if (id === figures[0]) await shoot("hover", false);
    // Hide the first series and show it again.
    if (state.names) {
      const hid = await evaluate(`(() => {
        const figure = document.getElementById(${JSON.stringify(id)});
        const button = figure.querySelector('.legend button');
        const data = JSON.parse(figure.querySelector('.data').textContent).series;
        const layer = (at) => getComputedStyle(figure.querySelector(\`[data-layer="\${at}"]\`)).display;
        return [...figure.querySelectorAll('.legend button')].every((button) => {
          const k = Number(button.dataset.series);
          // Points behind a line have no name of their own and go with it.
          const next = data[k + 1];
          const own = next && next.name === null && !next.ends.length && next.colour === data[k].colour ? [k, k + 1] : [k];
          button.click();
          const off = own.every((at) => layer(at) === 'none');
          button.click();
          return off && own.every((at) => layer(at) !== 'none');
        });
      })()`);
      expect(hid, `${id}: a name does not hide its series`);
    }
    if (state.scales) {
      const changed = await evaluate(`(() => {
        const figure = document.getElementById(${JSON.stringify(id)});
        const scale = () => [...figure.querySelectorAll('.chart > svg')].filter((one) => getComputedStyle(one).display !== 'none').map((one) => one.dataset.scale).join();
        return [...figure.querySelectorAll('.scale')].every((button) => {
          const before = scale();
          button.click();
          const after = scale();
          button.click();
          return before !== after && after !== '' && scale() === before;
        });
      })()`);
      expect(changed, `${id}: a scale does not change`);
    }
  }
  const csv = await evaluate(`new Promise((keep) => {
    const original = URL.createObjectURL;
    URL.createObjectURL = (blob) => { blob.text().then((text) => keep(text)); return original(blob); };
    document.querySelector('.save[data-as=csv]').click();
    setTimeout(() => keep(''), 3000);
  })`);
  expect(csv.split("\n").length > 2, "saving as CSV gives nothing");
  // Every figure as a PNG of its own: an image of more than one colour, twice as wide as the drawing.
  for (const id of figures) {
    const png = await evaluate(`new Promise((keep) => {
      const original = URL.createObjectURL;
      URL.createObjectURL = (blob) => {
        URL.createObjectURL = original;
        createImageBitmap(blob).then((image) => {
          const canvas = document.createElement('canvas');
          [canvas.width, canvas.height] = [image.width, image.height];
          const pen = canvas.getContext('2d');
          pen.drawImage(image, 0, 0);
          const colours = new Set(new Uint32Array(pen.getImageData(0, 0, image.width, image.height).data.buffer));
          keep({ type: blob.type, width: image.width, colours: colours.size });
        }, () => keep(null));
        return original(blob);
      };
      document.getElementById(${JSON.stringify(id)}).querySelector('.save[data-as=png]').click();
      setTimeout(() => keep(null), 5000);
    })`);
    expect(png?.type === "image/png" && png.width >= 1500 && png.colours > 3, `${id}: saving as PNG gives ${JSON.stringify(png)}`);
  }
  await evaluate("window.scrollTo(0, 0)");
  await shoot("desktop-light");
  await evaluate("document.getElementById('theme').click()");
  expect((await evaluate("getComputedStyle(document.body).backgroundColor")) !== light, "the button does not change light to dark");
  await evaluate("try { localStorage.clear() } catch {}");
  await open(1280, 900, false, true);
  expect((await evaluate("getComputedStyle(document.body).backgroundColor")) !== light, "a dark system does not make it dark");
  await shoot("desktop-dark");
  for (const dark of [false, true]) {
    await open(390, 844, true, dark);
    const wide = await evaluate("document.documentElement.scrollWidth");
    expect(wide <= 390, `on a telephone the page is ${wide} wide`);
    await shoot(`phone-${dark ? "dark" : "light"}`);
  }

  await open(1280, 900, false, true);
  await print(figures.length);

  const asked = events.filter((event) => event.method === "Network.requestWillBeSent").map((event) => event.params.request.url);
  const foreign = asked.filter((url) => url !== address && !url.startsWith("data:") && !url.startsWith("blob:") && url !== "about:blank");
  expect(foreign.length === 0, `it asks for ${foreign}`);
  const errors = events.filter((event) => event.method === "Runtime.exceptionThrown"
    || (event.method === "Runtime.consoleAPICalled" && ["error", "warning"].includes(event.params.type))
    || (event.method === "Log.entryAdded" && event.params.entry.level === "error"));
  expect(errors.length === 0, `the console says ${JSON.stringify(errors.map((event) => event.params))}`);
  if (problems.length) throw new Error(problems.join("\n"));
  console.log(`${page}: ${figures.length} figures, all as they should be`);
}

const limit = setTimeout(() => { console.error("the browser did not finish within 120 s"); browser.kill("SIGKILL"); process.exit(1); }, 120000);
let status = 0;
try {
  await main();
} catch (error) {
  console.error(error.message);
  status = 1;
}
clearTimeout(limit);
session = undefined;
await Promise.race([send("Browser.close").catch(() => {}), pause(3000)]);
browser.kill("SIGKILL");
await pause(100);
rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
process.exit(status);
