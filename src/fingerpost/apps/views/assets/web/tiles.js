/** Map tiles behind the lines of a trip, from the source that the operator has configured. */

import { drawing } from "../dom.js";

const TILE_PX = 256;
const NEAREST = 19;

/** Return what draws the tiles of `template`, an address with {z}, {x} and {y}, behind a map; see drawMap. */
export function newTiles(template) {
  return ({ left, top, scale, width, height }) => {
    const zoom = Math.max(0, Math.min(NEAREST, Math.round(Math.log2(scale / TILE_PX))));
    const count = 2 ** zoom;
    const size = scale / count;
    const [first, last] = [[left, top], [left + width / scale, top + height / scale]].map((point) => point.map((each) => Math.floor(each * count)));
    const tiles = [];
    for (let y = Math.max(0, first[1]); y <= Math.min(count - 1, last[1]); y++) {
      for (let x = first[0]; x <= last[0]; x++) {
        const column = ((x % count) + count) % count;
        const href = template.replace("{z}", zoom).replace("{x}", column).replace("{y}", y);
        tiles.push(drawing("image", { href, x: (x - left * count) * size, y: (y - top * count) * size, width: size + 0.5, height: size + 0.5, preserveAspectRatio: "none" }));
      }
    }
    return tiles;
  };
}
