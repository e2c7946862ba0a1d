/** A trip as an event of iCalendar (RFC 5545). */

import { isRide, nameRide, sayWalk } from "../rides.js";

const LONGEST_LINE = 74;

/** Return the file's text: one event over the whole trip, whose description has its steps. */
export function calendarOf(itinerary, { title, url, stamp, words }) {
  const { legs, fingerprint } = itinerary;
  const end = legs[legs.length - 1];
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//fingerpost//web//EN",
    "BEGIN:VEVENT",
    `UID:${fingerprint.replace(/[^\w]/g, "-")}@fingerpost`,
    `DTSTAMP:${writeInstant(stamp)}`,
    `DTSTART:${writeInstant(legs[0].departureTime)}`,
    `DTEND:${writeInstant(end.arrivalTime)}`,
    `SUMMARY:${escape(title)}`,
    `LOCATION:${escape(legs[0].from.name)}`,
    `DESCRIPTION:${escape([...legs.map((leg) => describe(leg, words)), `${end.arrivalTime.slice(11, 16)} ${end.to.name}`, url].join("\n"))}`,
    "END:VEVENT",
    "END:VCALENDAR",
  ];
  return lines.map((line) => `${fold(line)}\r\n`).join("");
}

function describe(leg, words) {
  const walk = sayWalk(words, leg);
  const how = !isRide(leg) ? walk : [nameRide(leg), leg.headsign && words.say("towards", { headsign: leg.headsign })].filter(Boolean).join(" ");
  const platform = leg.from.platform ? `, ${words.say("platform_of", { name: leg.from.platform })}` : "";
  const cancelled = leg.status === "cancelled" ? ` (${words.say("cancelled")})` : "";
  return `${leg.departureTime.slice(11, 16)} ${leg.from.name}${platform}: ${how}${cancelled}`;
}

function writeInstant(instant) {
  return `${new Date(instant).toISOString().replace(/[-:]/g, "").slice(0, 15)}Z`;
}

function escape(text) {
  return text.replace(/[\\;,]/g, "\\$&").replace(/\r?\n/g, "\\n").replace(/[\u0000-\u001f\u007f]/g, " ");
}

/** Break a line so that none has more than 75 octets; a letter is never broken. */
function fold(line) {
  const encoder = new TextEncoder();
  let folded = "";
  let size = 0;
  for (const letter of line) {
    const octets = encoder.encode(letter).length;
    if (size + octets > LONGEST_LINE) {
      folded += "\r\n ";
      size = 1;
    }
    folded += letter;
    size += octets;
  }
  return folded;
}
