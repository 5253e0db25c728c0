// What a reader can do with the page: choose light or dark, hide series, choose scales, read values, save a figure.
// Drawings are there already; this script shows and hides them, and draws only the marks under the pointer.
"use strict";
(() => {
  const root = document.documentElement;
  const SVG = "http" + "://www.w3.org/2000/svg";

  let stored = null;
  try { stored = localStorage.getItem("theme"); } catch { /* a page from a file may have no storage */ }
  if (stored) root.dataset.theme = stored;
  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* as above */ }
  });

  const number = (value) => {
    const size = Math.abs(value);
    if (value === 0) return "0";
    if (size >= 1e6 || size < 1e-3) return value.toExponential(2).replace("e+", "e");
    if (Number.isInteger(value)) return value.toLocaleString("en-GB");
    return value.toLocaleString("en-GB", { maximumSignificantDigits: 5 });
  };

  const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");

  for (const figure of document.querySelectorAll(".figure")) {
    const data = JSON.parse(figure.querySelector(".data").textContent);
    const chart = figure.querySelector(".chart");
    const tip = figure.querySelector(".tip");
    const hidden = new Set();
    const shown = () => [...chart.querySelectorAll(":scope > svg")].find((svg) => getComputedStyle(svg).display !== "none");

    // What has no name goes with its neighbour of the same colour: the band before a line, the points after it.
    const partners = (k) => [k - 1, k + 1].filter((at) => {
      const one = data.series[at];
      return one && one.name === null && one.colour === data.series[k].colour && (at < k) === (one.ends.length > 0);
    });
    for (const button of figure.querySelectorAll(".legend button")) {
      button.addEventListener("click", () => {
        const k = Number(button.dataset.series);
        const show = button.getAttribute("aria-pressed") === "false";
        button.setAttribute("aria-pressed", String(show));
        for (const at of [k, ...partners(k)]) {
          if (show) hidden.delete(at); else hidden.add(at);
          for (const layer of chart.querySelectorAll(`[data-layer="${at}"]`)) layer.style.display = show ? "" : "none";
        }
      });
    }

    for (const button of figure.querySelectorAll(".scale")) {
      button.addEventListener("click", () => {
        button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
        const now = chart.querySelector(":scope > svg:not([hidden])").dataset.scale.split("-");
        const log = button.getAttribute("aria-pressed") === "true";
        now[button.dataset.axis === "x" ? 0 : 1] = log ? "log" : "linear";
        for (const svg of chart.querySelectorAll(":scope > svg")) svg.toggleAttribute("hidden", svg.dataset.scale !== now.join("-"));
        leave();
      });
    }

    const leave = () => {
      tip.hidden = true;
      for (const marks of chart.querySelectorAll(".marks")) marks.replaceChildren();
    };
    const draw = (parent, name, attributes) => {
      const node = document.createElementNS(SVG, name);
      for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
      parent.append(node);
    };

    const point = (event) => {
      const svg = shown();
      if (!svg) return;
      const box = svg.getBoundingClientRect();
      const [left, right, top, bottom] = svg.dataset.frame.split(",").map(Number);
      const unit = box.width / svg.viewBox.baseVal.width;
      const [at, height] = [(event.clientX - box.left) / unit, (event.clientY - box.top) / unit];
      if (at < left - 8 || at > right + 8 || height < top - 8 || height > bottom + 30) { leave(); return; }
      const [first, last] = svg.dataset.x.split(",").map(Number);
      const [low, high] = svg.dataset.y.split(",").map(Number);
      const [scaleX, scaleY] = svg.dataset.scale.split("-");
      const placeX = (x) => left + ((scaleX === "log" ? Math.log10(x) : x) - first) / (last - first) * (right - left);
      const placeY = (y) => bottom - ((scaleY === "log" ? Math.log10(y) : y) - low) / (high - low) * (bottom - top);
      const found = [];
      data.series.forEach((series, k) => {
        if (hidden.has(k) || series.name === null) return;
        let best = null;
        for (const [n, [x, y]] of series.points.entries()) {
          if (x === null || y === null) continue;
          const [px, py] = [placeX(x), placeY(y)];
          if (!Number.isFinite(px) || !Number.isFinite(py)) continue;
          const away = Math.abs(px - at) + 0.02 * Math.abs(py - height);
          if (best === null || away < best.away) best = { series, x, y, px, py, away, ends: series.ends[n] };
        }
        if (best) found.push(best);
      });
      if (!found.length) { leave(); return; }
      const nearest = found.reduce((a, b) => (b.away < a.away ? b : a));
      const together = found.filter((one) => Math.abs(one.px - nearest.px) < 10)
        .sort((a, b) => a.py - b.py);
      const marks = svg.querySelector(".marks");
      marks.replaceChildren();
      draw(marks, "line", { x1: nearest.px, x2: nearest.px, y1: top, y2: bottom });
      for (const one of together) {
        if (one.py >= top - 2 && one.py <= bottom + 2) draw(marks, "circle", { cx: one.px, cy: one.py, r: 4.5, fill: one.series.colour });
      }
      const value = (one) => number(one.y) + (one.ends ? ` (${number(one.ends[0])} to ${number(one.ends[1])})` : "");
      tip.innerHTML = `<b>${escaped(data.x)} ${number(nearest.x)}</b>` + together.map((one) =>
        `<div data-c="${one.series.colour}"><i></i><span>${escaped(one.series.name)}</span><em>${value(one)}</em></div>`).join("");
      tip.hidden = false;
      const room = chart.getBoundingClientRect();
      const x = nearest.px * unit;
      const width = tip.offsetWidth;
      tip.style.left = `${Math.max(0, Math.min(x + 14 + width > room.width ? x - width - 14 : x + 14, room.width - width))}px`;
      tip.style.top = `${Math.max(0, Math.min(height * unit - tip.offsetHeight / 2, room.height - tip.offsetHeight))}px`;
    };
    chart.addEventListener("pointermove", point);
    chart.addEventListener("pointerdown", point);
    chart.addEventListener("pointerleave", leave);

    const save = (blob, kind) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = `${figure.id}.${kind}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    };
    // Colours come from the style of the page; a file of its own must carry them.
    const alone = () => {
      const svg = shown();
      const copy = svg.cloneNode(true);
      const [from, to] = [svg.querySelectorAll("*"), copy.querySelectorAll("*")];
      from.forEach((node, k) => {
        const style = getComputedStyle(node);
        for (const key of ["fill", "stroke"]) if (node.hasAttribute(key)) to[k].setAttribute(key, style[key]);
        if (node.tagName === "text") { to[k].setAttribute("fill", style.fill); to[k].setAttribute("font-family", "sans-serif"); }
        if (style.display === "none") to[k].setAttribute("display", "none");
      });
      const { width, height } = svg.viewBox.baseVal;
      const names = data.series.map((one, k) => [one, k]).filter(([one, k]) => one.name !== null && !hidden.has(k)).map(([one]) => one);
      const lines = Math.ceil(names.length / 3);
      const above = 34 + 20 * lines;
      copy.setAttribute("xmlns", SVG);
      copy.setAttribute("viewBox", `0 ${-above} ${width} ${height + above}`);
      copy.setAttribute("width", width);
      copy.setAttribute("height", height + above);
      const page = getComputedStyle(figure);
      const head = document.createElementNS(SVG, "g");
      draw(head, "rect", { x: 0, y: -above, width, height: height + above, fill: page.backgroundColor });
      const words = (text, x, y, size, weight) => {
        draw(head, "text", { x, y, "font-size": size, "font-weight": weight, "font-family": "sans-serif", fill: page.color });
        head.lastChild.textContent = text;
      };
      words(figure.querySelector("h3").textContent, 12, -above + 22, 16, 600);
      names.forEach((one, k) => {
        const [x, y] = [12 + (k % 3) * (width - 24) / 3, -above + 44 + 20 * Math.floor(k / 3)];
        const swatch = figure.querySelector(`.legend button[data-series="${data.series.indexOf(one)}"] .swatch > *`);
        const style = swatch ? getComputedStyle(swatch) : null;
        const colour = !style ? one.colour : style.stroke !== "none" ? style.stroke : style.fill;
        draw(head, "rect", { x, y: y - 8, width: 16, height: 5, rx: 2, fill: colour });
        words(one.name, x + 22, y, 12, 400);
      });
      copy.prepend(head);
      copy.querySelector(".marks")?.replaceChildren();
      return { text: new XMLSerializer().serializeToString(copy), width, height: height + above };
    };
    const csv = () => {
      const cell = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replace(/"/g, '""')}"` : String(value ?? ""));
      const lines = [["series", data.x, data.y, "low", "high"].map(cell).join(",")];
      for (const series of data.series) {
        series.points.forEach(([x, y], k) => lines.push([series.name ?? "", x, y, ...(series.ends[k] ?? ["", ""])].map(cell).join(",")));
      }
      return lines.join("\n") + "\n";
    };
    for (const button of figure.querySelectorAll(".save")) {
      button.addEventListener("click", () => {
        if (button.dataset.as === "csv") { save(new Blob([csv()], { type: "text/csv" }), "csv"); return; }
        const { text, width, height } = alone();
        const blob = new Blob([text], { type: "image/svg+xml" });
        if (button.dataset.as === "svg") { save(blob, "svg"); return; }
        const image = new Image();
        image.onload = () => {
          const canvas = document.createElement("canvas");
          [canvas.width, canvas.height] = [2 * width, 2 * height];
          canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
          canvas.toBlob((png) => save(png, "png"));
        };
        image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
      });
    }
  }
})();
