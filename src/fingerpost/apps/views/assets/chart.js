/** A line over time: one series of figures, of which one point is chosen. */

import { drawing } from "./dom.js";

const WIDEST = 1400;
const HEIGHT = 210;
const EDGES = { left: 58, right: 18, top: 14, bottom: 26 };
const TICKS = 4;

/** Return round values that span what is given, zero among them unless all values lie far from it. */
export function listTicks(values) {
  let low = Math.min(...values);
  let high = Math.max(...values);
  if (low > 0 && low < 0.6 * high) low = 0;
  if (high < 0 && high > 0.6 * low) high = 0;
  if (low === high) [low, high] = low === 0 ? [0, 1] : [Math.min(0, low), Math.max(0, high)];
  const rough = (high - low) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= rough * 0.999);
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil(high / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}

/**
 * Return the drawing of points {value, at (milliseconds), title, told}, `room` pixels wide at most.
 * `pick(index)` chooses a point, by pointer or by key.
 */
export function drawChart({ points, chosen, label, write, pick, key, room }) {
  const width = Math.min(WIDEST, room);
  const ticks = listTicks(points.map((each) => each.value));
  const [low, high] = [ticks[0], ticks[ticks.length - 1]];
  const [begin, end] = [points[0].at, points[points.length - 1].at];
  const x = (at) => EDGES.left + ((at - begin) / Math.max(end - begin, 1)) * (width - EDGES.left - EDGES.right);
  const y = (value) => HEIGHT - EDGES.bottom - ((value - low) / (high - low)) * (HEIGHT - EDGES.top - EDGES.bottom);
  const grid = ticks.flatMap((tick) => [
    drawing("line", { class: "grid", x1: EDGES.left, x2: width - EDGES.right, y1: y(tick), y2: y(tick) }),
    drawing("text", { x: EDGES.left - 8, y: y(tick) + 4, "text-anchor": "end" }, write(tick)),
  ]);
  const line = points.map((each) => `${x(each.at).toFixed(1)} ${y(each.value).toFixed(1)}`).join("L");
  const circles = points.map((each, index) =>
    drawing("circle", { cx: x(each.at).toFixed(1), cy: y(each.value).toFixed(1), r: index === chosen ? 6 : 4.5, class: index === chosen ? "chosen" : null }));
  const chart = drawing("svg", {
    class: "chart",
    viewBox: `0 0 ${width} ${HEIGHT}`,
    role: "slider",
    tabindex: 0,
    "data-key": key,
    "aria-label": label,
    "aria-valuemin": 1,
    "aria-valuemax": points.length,
    "aria-valuenow": chosen + 1,
    "aria-valuetext": points[chosen].told,
  }, [...grid, drawing("path", { class: "series", d: `M${line}` }), ...circles, ...drawTitles(points, x, width)]);
  chart.addEventListener("pointerdown", (event) => {
    const box = chart.getBoundingClientRect();
    const pointed = ((event.clientX - box.left) / box.width) * width;
    const distances = points.map((each) => Math.abs(x(each.at) - pointed));
    pick(distances.indexOf(Math.min(...distances)));
  });
  chart.addEventListener("keydown", (event) => {
    const goal = { ArrowLeft: chosen - 1, ArrowDown: chosen - 1, ArrowRight: chosen + 1, ArrowUp: chosen + 1, Home: 0, End: points.length - 1 }[event.key];
    if (goal === undefined) return;
    event.preventDefault();
    pick(Math.max(0, Math.min(points.length - 1, goal)));
  });
  return chart;
}

/** The points' titles below the line, as many as find room, the last one always. */
function drawTitles(points, x, width) {
  const titles = [];
  let free = Infinity;
  for (const point of [...points].reverse()) {
    const half = point.title.length * 3.6;
    const middle = Math.min(x(point.at), width - half - 2);
    if (middle + half > free) continue;
    free = middle - half - 8;
    titles.push(drawing("text", { x: middle.toFixed(1), y: HEIGHT - 6, "text-anchor": "middle" }, point.title));
  }
  return titles;
}
