/** Places by name: suggestions, and whether a text means exactly one. */

import { callTool } from "./mcp.js";

/** Return suggestions {token, name, detail, coordinate, id} for a text, best first; none where nothing resembles it. */
export async function findPlaces(text, language) {
  const { structuredContent: body, isError } = await callTool("findAddressOrStop", { rawText: text, languagePreference: language });
  if (isError) return { isCertain: false, places: [] };
  const apart = body.meta?.candidates || {};
  const places = (body.candidates || [body]).map((each) => {
    const token = each.id ?? `${each.coordinate.lat},${each.coordinate.lon}`;
    return { token, name: nameOf(each, language), detail: tellApart(apart[token] || {}), coordinate: each.coordinate, id: each.id };
  });
  return { isCertain: !body.candidates, places };
}

function nameOf(place, language) {
  const name = place.names?.[language] || place.name;
  return place.locality && !name.includes(place.locality) ? `${name}, ${place.locality}` : name;
}

function tellApart({ lines = [], direction, district }) {
  return [lines.join(", "), direction && `→ ${direction}`, district].filter(Boolean).join(" · ");
}
