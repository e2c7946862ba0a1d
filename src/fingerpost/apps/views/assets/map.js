/** A drawing of a trip: its legs as lines, north up, in Web Mercator. */

import { drawing } from "./dom.js";
import { drawGround } from "./ground.js";
import { TOOLS_PX, makeMovable } from "./movable.js";
import { isRide } from "./rides.js";

const LOWEST = 110;
const MARGIN = 22;
const RADIUS = 4.5;
const MOST_COVERED = 2;
const LETTER = 7.6;
const LINE_HEIGHT = 15;
// A pixel is about a quarter of a metre at Helsinki: a short walk need not fill the drawing.
const LARGEST_SCALE = 256 * 2 ** 18;

/** Return the points [latitude, longitude] of an encoded polyline. */
export function decodePolyline(text, precision) {
  const factor = 10 ** precision;
  const points = [];
  let at = 0;
  const sums = [0, 0];
  while (at < text.length) {
    for (const axis of [0, 1]) {
      let bits = 0;
      let shift = 0;
      let chunk;
      do {
        chunk = text.charCodeAt(at++) - 63;
        bits += (chunk & 31) * 2 ** shift;
        shift += 5;
      } while (chunk >= 32 && at < text.length);
      sums[axis] += bits % 2 === 1 ? -(bits + 1) / 2 : bits / 2;
    }
    points.push([sums[0] / factor, sums[1] / factor]);
  }
  return points;
}

/**
 * Return {legs, straight, tolerance}: the points of each leg, whether a ride is drawn straight between stops, and how
 * far the lines may be off, in metres.
 */
export function linesOf(itinerary, geometry) {
  const drawn = geometry?.itineraries?.find((each) => each.fingerprint === itinerary.fingerprint);
  const ends = (leg) => [leg.from, leg.to].map(({ coordinate }) => [coordinate.lat, coordinate.lon]);
  if (!drawn) return { legs: itinerary.legs.map(ends), straight: itinerary.legs.some(isRide), tolerance: 0 };
  return {
    legs: drawn.legs.map((leg) => decodePolyline(leg.legGeometry.points, geometry.precision)),
    straight: drawn.legs.some((leg, index) => leg.source !== "shape" && isRide(itinerary.legs[index])),
    tolerance: geometry.toleranceMeters,
  };
}

/** Return the layers of a map, whose lines are points [latitude, longitude]; none where there is no map. */
export function layersOf(basemap) {
  return (basemap?.layers || []).map(({ kind, lines }) => ({ kind, lines: lines.map((line) => decodePolyline(line, basemap.precision)) }));
}

/** Return where a point [latitude, longitude] lies on the world of Web Mercator, which is 1 wide and 1 high. */
export function projectPoint([lat, lon]) {
  const y = Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI);
  return [lon / 360 + 0.5, 0.5 - y];
}

/**
 * Return the drawing of an itinerary's legs, whose points are [latitude, longitude] and which are painted with `paints`,
 * properties of styles: `width` pixels wide, at most `highest` high. Names that find no room in it stand in the list of
 * steps. It can be moved and zoomed, see movable.js; `view` is where it was left, and `keepView` hears of each move.
 * `ground` are the layers of a map, whose lines are points too.
 */
export function drawMap(itinerary, lines, { label, words, width, highest, paints, view, keepView, ground = [] }) {
  const points = lines.map((line) => line.map(projectPoint));
  const xs = points.flat().map(([x]) => x);
  const ys = points.flat().map(([, y]) => y);
  const [west, east, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const wide = Math.max(east - west, 1e-9);
  const high = Math.max(bottom - top, 1e-9);
  const height = Math.round(Math.min(highest, Math.max(LOWEST, ((width - 2 * MARGIN) * high) / wide + 2 * MARGIN)));
  const scale = Math.min((width - 2 * MARGIN) / wide, (height - 2 * MARGIN) / high, LARGEST_SCALE);
  const stops = listStops(itinerary, points);
  const fit = { x: (west + east) / 2, y: (top + bottom) / 2, scale, wide, high };
  const layers = ground.map(({ kind, lines: all }) => ({ kind, lines: all.map((line) => line.map(projectPoint)) }));
  const drawnGround = drawGround(layers, fit, scale);
  const corner = findCorner(points, (point) => placeIn(fit, width, height, point), width, height);
  const svg = drawing("svg", { class: "map", style: { "max-height": `${highest}px` }, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  const draw = (camera) => {
    const place = (point) => placeIn(camera, width, height, point);
    const placed = points.map((line) => line.map(place));
    svg.replaceChildren(drawnGround.place(camera, width, height), ...drawLines(itinerary, placed, paints), ...drawStops(stops.map((each) => ({ ...each, at: place(each.point) })), placed, width, height, corner));
  };
  return makeMovable(svg, { fit, width, height, corner, words, view, keepView, draw });
}

function placeIn(camera, width, height, [x, y]) {
  return [(x - camera.x) * camera.scale + width / 2, (y - camera.y) * camera.scale + height / 2];
}

/** Return the corner in which the buttons hide least of the lines: {right, bottom}, whether it is on these sides. */
function findCorner(lines, place, width, height) {
  const placed = lines.flatMap((line) => spread(line.map(place)));
  const corners = [true, false].flatMap((bottom) => [true, false].map((right) => ({ right, bottom })));
  const hidden = ({ right, bottom }) => {
    const [left, top, end, base] = boxOf({ right, bottom }, width, height);
    return placed.filter(([x, y]) => left <= x && x <= end && top <= y && y <= base).length;
  };
  return corners.reduce((one, other) => (hidden(other) < hidden(one) ? other : one));
}

function boxOf({ right, bottom }, width, height) {
  const [left, top] = [right ? width - TOOLS_PX.width : 0, bottom ? height - TOOLS_PX.height : 0];
  return [left, top, left + TOOLS_PX.width, top + TOOLS_PX.height];
}

/** A ride in a colour of its own has an edge, because that colour may be too near to the ground's. */
function drawLines(itinerary, placed, paints) {
  const write = (line, between) => line.map((point) => point.map((each) => each.toFixed(1)).join(" ")).join(between);
  return itinerary.legs.flatMap((leg, index) => {
    const stroke = !isRide(leg) ? "WALK" : leg.mode;
    const edge = paints[index]["--line"] && drawing("polyline", { points: write(placed[index], " ") });
    return [edge, drawing("path", { "data-stroke": stroke, style: paints[index], d: `M${write(placed[index], "L")}` })].filter(Boolean);
  });
}

function drawStops(stops, placed, width, height, corner) {
  const circles = stops.map(({ at }) => drawing("circle", { cx: at[0].toFixed(1), cy: at[1].toFixed(1), r: RADIUS }));
  return [...circles, ...drawNames(stops, width, height, placed.flatMap(spread), boxOf(corner, width, height))];
}

/** Return the first point, each stop where a ride begins or ends, and the last point. */
function listStops(itinerary, lines) {
  const stops = [];
  const add = (name, point) => {
    if (!stops.some((each) => each.name === name)) stops.push({ name, point });
  };
  const last = itinerary.legs.length - 1;
  itinerary.legs.forEach((leg, index) => {
    if (index === 0 || isRide(leg)) add(leg.from.name, lines[index][0]);
    if (index === last || isRide(leg)) add(leg.to.name, lines[index][lines[index].length - 1]);
  });
  return stops;
}

/** Return points along a line, close enough together for a name not to slip between them. */
function spread(line) {
  return line.slice(1).flatMap(([x, y], index) => {
    const [fromX, fromY] = line[index];
    const count = Math.min(100, Math.ceil(Math.hypot(x - fromX, y - fromY) / 6));
    return Array.from({ length: count }, (_, step) => [fromX + ((x - fromX) * step) / count, fromY + ((y - fromY) * step) / count]);
  });
}

/** Return the names that find room, the ends first; one that would cover a stop, a name or the line is left out. */
function drawNames(stops, width, height, inked, tools) {
  const taken = [tools, ...stops.map(({ at: [x, y] }) => [x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS])];
  const order = [...new Set([stops[0], stops[stops.length - 1], ...stops])];
  const texts = [];
  for (const { name, at: [x, y] } of order) {
    const long = name.length * LETTER;
    const places = [[x + 9, y + 4, "start"], [x - 9, y + 4, "end"], [x, y - 10, "middle"], [x, y + 21, "middle"], [x, y + 21, "start"], [x, y - 10, "start"], [x, y + 21, "end"], [x, y - 10, "end"]];
    const free = places.map(([left, base, anchor]) => {
      const begin = { start: left, middle: left - long / 2, end: left - long }[anchor];
      const box = [begin, base - LINE_HEIGHT, begin + long, base + 3];
      const covered = inked.filter((point) => box[0] < point[0] && point[0] < box[2] && box[1] < point[1] && point[1] < box[3]);
      return { left, base, anchor, box, covered: covered.length };
    }).filter(({ box }) => {
      const isInside = box[0] >= 2 && box[2] <= width - 2 && box[1] >= 0 && box[3] <= height;
      return isInside && taken.every((other) => box[2] < other[0] || other[2] < box[0] || box[3] < other[1] || other[3] < box[1]);
    });
    if (free.length === 0) continue;
    const best = free.reduce((one, other) => (other.covered < one.covered ? other : one));
    if (best.covered > MOST_COVERED && texts.length >= 2) continue;
    taken.push(best.box);
    texts.push(drawing("text", { x: best.left.toFixed(1), y: best.base.toFixed(1), "text-anchor": best.anchor }, name));
  }
  return texts;
}
