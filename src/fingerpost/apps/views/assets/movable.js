/** Moves and zooms a map: by pointer, by wheel, by keyboard and by buttons, without animation. */

import { element } from "./dom.js";

/** How much of a corner the buttons take. */
export const TOOLS_PX = { width: 98, height: 52 };

const STEP = 0.25;
const ZOOM = 1.6;
const WHEEL_PX = 300;
const MOST_PX_OF_WORLD = 256 * 2 ** 20;
const LEAST_OF_FIT = 0.25;

/**
 * Return a frame around an SVG that `draw(camera)` fills: {x, y} is the world's point in its middle, `scale` the pixels
 * for the width of the world. `fit` shows everything, which is `wide` and `high`; the buttons stand in `corner`. `view` is a camera to begin with, and
 * `keepView(camera)` hears of each other one, null for `fit`.
 */
export function makeMovable(svg, { fit, width, height, corner, words, view, keepView, draw }) {
  let camera = view || fit;
  const show = (next) => {
    const scale = clamp(next.scale, fit.scale * LEAST_OF_FIT, Math.max(fit.scale, MOST_PX_OF_WORLD));
    const [reachX, reachY] = [fit.wide / 2 + width / 4 / scale, fit.high / 2 + height / 4 / scale];
    camera = { x: clamp(next.x, fit.x - reachX, fit.x + reachX), y: clamp(next.y, fit.y - reachY, fit.y + reachY), scale };
    keepView(next === fit ? null : camera);
    draw(camera);
  };
  const move = (right, down) => show({ ...camera, x: camera.x + right / camera.scale, y: camera.y + down / camera.scale });
  /** Zoom so that the world's point at a place of the drawing, its middle if none is given, stays there. */
  const zoom = (factor, at = [width / 2, height / 2]) => {
    const scale = clamp(camera.scale * factor, fit.scale * LEAST_OF_FIT, Math.max(fit.scale, MOST_PX_OF_WORLD));
    const held = 1 / camera.scale - 1 / scale;
    show({ x: camera.x + (at[0] - width / 2) * held, y: camera.y + (at[1] - height / 2) * held, scale });
  };
  const button = (key, label, text, onclick) => element("button", { type: "button", "data-key": key, "aria-label": label, onclick }, text);
  const tools = element("div", { class: "map-tools", style: { [corner.right ? "right" : "left"]: "4px", [corner.bottom ? "bottom" : "top"]: "4px" } }, [
    button("zoom-in", words.say("zoom_in"), "+", () => zoom(ZOOM)),
    button("zoom-out", words.say("zoom_out"), "−", () => zoom(1 / ZOOM)),
  ]);
  const keys = {
    ArrowLeft: () => move(-width * STEP, 0),
    ArrowRight: () => move(width * STEP, 0),
    ArrowUp: () => move(0, -height * STEP),
    ArrowDown: () => move(0, height * STEP),
    "+": () => zoom(ZOOM),
    "=": () => zoom(ZOOM),
    "-": () => zoom(1 / ZOOM),
    "0": () => show(fit),
  };
  const onkeydown = (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  };
  const frame = element("div", { class: "map-frame", role: "group", tabindex: 0, "data-key": "map", "aria-label": words.say("map_keys"), onkeydown }, svg, tools);
  const placeOf = (event) => {
    const box = svg.getBoundingClientRect();
    // The drawing is centred where its frame has another shape.
    const shown = Math.min(box.width / width, box.height / height) || 1;
    return [(event.clientX - box.left - (box.width - width * shown) / 2) / shown, (event.clientY - box.top - (box.height - height * shown) / 2) / shown];
  };
  listenToPointers(svg, placeOf, move, zoom);
  // A wheel that only passes by scrolls what it always scrolls.
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !frame.contains(document.activeElement)) return;
    event.preventDefault();
    zoom(2 ** (-event.deltaY / WHEEL_PX), placeOf(event));
  }, { passive: false });
  draw(camera);
  return frame;
}

/** One pointer moves the map, two zoom it too. */
function listenToPointers(svg, placeOf, move, zoom) {
  const down = new Map();
  const spreadOf = (places) => {
    const [first, other = first] = places;
    return { middle: [(first[0] + other[0]) / 2, (first[1] + other[1]) / 2], apart: Math.hypot(first[0] - other[0], first[1] - other[1]) };
  };
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    svg.setPointerCapture(event.pointerId);
    down.set(event.pointerId, placeOf(event));
  });
  svg.addEventListener("pointermove", (event) => {
    if (!down.has(event.pointerId)) return;
    const before = spreadOf([...down.values()]);
    down.set(event.pointerId, placeOf(event));
    const after = spreadOf([...down.values()]);
    move(before.middle[0] - after.middle[0], before.middle[1] - after.middle[1]);
    if (before.apart > 0 && after.apart > 0) zoom(after.apart / before.apart, after.middle);
  });
  for (const name of ["pointerup", "pointercancel"]) svg.addEventListener(name, (event) => down.delete(event.pointerId));
}

function clamp(value, least, most) {
  return Math.min(most, Math.max(least, value));
}
