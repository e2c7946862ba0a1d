/** Water and ways behind a trip: drawn once, and moved with the map. */

import { drawing } from "./dom.js";

/**
 * Return {node, place}: what `layers`, each {kind, lines} of the world's points [x, y], show, and what puts it where a
 * camera looks. Coordinates are pixels from the point `from` at a scale, so that a browser's short numbers suffice.
 */
export function drawGround(layers, from, scale) {
  const write = ([x, y]) => `${((x - from.x) * scale).toFixed(2)} ${((y - from.y) * scale).toFixed(2)}`;
  const paths = layers.map(({ kind, lines }) => drawing("path", { "data-kind": kind, d: lines.map((line) => `M${line.map(write).join("L")}`).join("") }));
  const node = drawing("g", { class: "ground" }, paths);
  const place = (camera, width, height) => {
    const grown = camera.scale / scale;
    const [x, y] = [width / 2 - (camera.x - from.x) * camera.scale, height / 2 - (camera.y - from.y) * camera.scale];
    node.setAttribute("transform", `translate(${x} ${y}) scale(${grown})`);
    return node;
  };
  return { node, place };
}
