/** Figures as a table and a line over time, each with its filing: an answer of sec_financial_data. */

import { element } from "./dom.js";
import { drawChart } from "./chart.js";
import { header, link, notesTab, tabs } from "./parts.js";

const LEAST_POINTS = 2;
const UNITLESS = ["pure", "ratio"];

function drawFigures(frame) {
  const { body, words } = frame;
  const series = listSeries(body.results);
  const panels = [
    ...(series.length > 0 ? [{ key: "chart", title: words.say("chart"), panel: () => drawSeries(frame, series) }] : []),
    { key: "table", title: words.say("table"), panel: () => drawTable(frame) },
  ];
  return [
    header(frame, nameAnswer(frame), body.source && element("span", { class: "dim" }, words.say("complete_through", { dataset: body.source.dataset, date: body.source.complete_through }))),
    body.explanation && element("p", { class: "banner", lang: "en" }, body.data?.verdict ? `${body.data.verdict}: ` : "", body.explanation),
    ...tabs(frame, "tab", [...panels, notesTab(frame, listFigureNotes(frame))]),
  ].filter(Boolean);
}

function nameAnswer({ body, words }) {
  const names = [...new Set(body.results.map((row) => row.ticker).filter(Boolean))];
  const metrics = [...new Set(body.results.map(nameFigure).filter(Boolean))];
  const few = (list) => (list.length <= 3 ? list.join(", ") : "");
  return [few(names), few(metrics)].filter(Boolean).join(": ") || words.say("figures");
}

function nameFigure(row) {
  return row.metric_name;
}

function listFigureNotes(frame) {
  const { body, words } = frame;
  const missing = Object.entries(body.missing || {}).map(([name, { message }]) => words.say("missing", { name, message }));
  const ofRows = body.results.flatMap((row) => row.notes || []);
  const ofSource = body.source?.note ? [body.source.note] : [];
  const asked = body.truncated ? ["truncated"] : [];
  return [...new Set([...missing, ...(body.notes || []), ...ofRows, ...ofSource, ...asked])].map((text) => ({ text, lang: "en" }));
}

// --------------------------------------------------------------------------------------------- values and filings

function writeValue(words, value, unit) {
  const number = words.exact.format(value);
  return !unit || UNITLESS.includes(unit) ? number : `${number} ${unit}`;
}

function namePeriod(words, row) {
  if (row.period_type === "instant") return row.end_date;
  if (row.fiscal_period && row.fiscal_period !== "FY") return `${row.fiscal_year} ${row.fiscal_period}`;
  return row.fiscal_year ? words.say("fiscal_year", { year: row.fiscal_year }) : row.end_date || "";
}

function nameFiling(words, row) {
  return words.say("filed", { type: row.filing_type, date: row.filing_date });
}

function drawFiling(frame, row) {
  if (!row.accession_number) return row.filing_date || "";
  return [nameFiling(frame.words, row), " ", link(frame, row.filing_url, row.accession_number)];
}

function drawMarks(words, row) {
  const marks = [["derived", "estimated"].includes(row.kind) && words.say(`kind_${row.kind}`), row.confidence === "low" && words.say("low_confidence")];
  const told = marks.filter(Boolean).join(", ");
  return told && element("span", { class: "caution small" }, ` (${told})`);
}

// --------------------------------------------------------------------------------------------- the line

/** Return the rows that make lines: one company, one figure, one unit, one kind of period, one value a period. */
function listSeries(rows) {
  const found = new Map();
  for (const row of rows.filter((each) => typeof each.value === "number" && each.end_date)) {
    const key = JSON.stringify([row.ticker, nameFigure(row), row.unit, row.period_type]);
    found.set(key, [...(found.get(key) || []), row]);
  }
  const ordered = [...found].map(([key, points]) => ({ key, points: [...points].sort((a, b) => (a.end_date < b.end_date ? -1 : 1)) }));
  const isLine = ({ points }) => points.length >= LEAST_POINTS && new Set(points.map((each) => each.end_date)).size === points.length;
  return ordered.filter(isLine);
}

function drawSeries(frame, all) {
  const { words } = frame;
  const series = all.find((each) => each.key === frame.choices.series) || all[0];
  const { points } = series;
  const chosen = Math.min(frame.choices.point ?? points.length - 1, points.length - 1);
  const row = points[chosen];
  const name = (one) => [one.points[0].ticker, nameFigure(one.points[0])].filter(Boolean).join(" ");
  const told = (each) => words.say("point", { period: namePeriod(words, each), value: writeValue(words, each.value, each.unit), filing: `${nameFiling(words, each)}, ${each.accession_number}` });
  const choice = all.length > 1 && element(
    "select",
    { "aria-label": words.say("series"), "data-key": "series", onchange: (event) => { frame.choices.point = undefined; frame.choose("series", event.target.value); } },
    all.map((each) => element("option", { value: each.key, selected: each === series }, `${name(each)} (${each.points[0].unit}, ${each.points[0].period_type})`)),
  );
  return [
    choice,
    drawChart({
      points: points.map((each) => ({ value: each.value, at: Date.parse(each.end_date), title: namePeriod(words, each), told: told(each) })),
      chosen,
      key: "chart",
      label: words.say("chart_label", { name: `${name(series)} (${row.unit})`, first: namePeriod(words, points[0]), last: namePeriod(words, points[points.length - 1]) }),
      write: (value) => words.short.format(value),
      room: frame.main.clientWidth - 28,
      pick: (index) => frame.choose("point", index),
    }),
    element("div", { class: "chosen-figure" }, [
      element("strong", {}, namePeriod(words, row)),
      element("span", { class: "number" }, writeValue(words, row.value, row.unit), drawMarks(words, row)),
      element("span", {}, drawFiling(frame, row)),
    ]),
  ];
}

// --------------------------------------------------------------------------------------------- the table

function drawTable(frame) {
  const { body, words } = frame;
  const rows = body.results;
  if (rows.length === 0) return element("p", {}, words.say("no_figures"));
  const columns = rows.every((row) => typeof row.value === "number" && row.unit) ? listFigureColumns(frame) : listPlainColumns(rows);
  const [{ isPlain }] = columns;
  const table = element("table", {}, [
    element("thead", {}, element("tr", {}, columns.map(({ title, style }) => element("th", { scope: "col", class: style }, title)))),
    element("tbody", {}, frame.page(rows).map(([row]) => element("tr", {}, columns.map(({ draw, style }) => element("td", { class: style }, draw(row)))))),
  ]);
  return [isPlain ? element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": words.say("table"), "data-key": "scroll" }, table) : table, frame.pager()];
}

/** @returns {{title: string, draw: function(Object): any, style?: string, isPlain?: boolean}[]} */
function listFigureColumns(frame) {
  const { body, words } = frame;
  const several = (read) => new Set(body.results.map(read)).size > 1;
  const filing = (row) => drawFiling(frame, row);
  const columns = [
    several((row) => row.ticker) && { title: words.say("company"), draw: (row) => row.ticker },
    several(nameFigure) && { title: words.say("metric"), draw: nameFigure },
    { title: words.say("period"), draw: (row) => namePeriod(words, row) },
    { title: words.say("value"), draw: (row) => [element("span", { class: "number" }, writeValue(words, row.value, row.unit)), drawMarks(words, row), element("span", { class: "under small dim" }, filing(row))] },
    { title: words.say("filing"), style: "wide", draw: filing },
  ];
  return columns.flatMap((each) => each || []);
}

/**
 * The columns of rows that are no figures, as the answer names them: everything that is one value, null as nothing.
 * @returns {{title: string, draw: function(Object): any, style?: string, isPlain?: boolean}[]}
 */
function listPlainColumns(rows) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return names.map((name) => ({
    title: name,
    isPlain: true,
    draw: (row) => (row[name] === null || row[name] === undefined ? "" : typeof row[name] === "object" ? JSON.stringify(row[name]) : String(row[name])),
  }));
}

export const FIGURES = { name: "figures", tool: "sec_financial_data", draw: drawFigures };
