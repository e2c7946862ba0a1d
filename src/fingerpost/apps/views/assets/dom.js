/** Elements are made here and nowhere else: what an answer says becomes text, never markup. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Return an HTML element. A child is a node, a text, a list of these, or nothing (null, undefined, false, "").
 * An attribute that is null, undefined or false is left out; "onclick" and its like are listeners; "style" is an object
 * of properties, because a strict content policy refuses it as an attribute.
 */
export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** Return an SVG element. */
export function drawing(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") for (const [property, each] of Object.entries(value)) made.style.setProperty(property, each);
    else if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, String(value));
  }
  append(made, children);
  return made;
}

function append(parent, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(parent, child);
    else if (child instanceof Node) parent.append(child);
    else if (child !== null && child !== undefined && child !== false && child !== "") {
      parent.append(document.createTextNode(String(child)));
    }
  }
}

/** Return text that only a screen reader says. */
export function unseen(text) {
  return element("span", { class: "unseen" }, text);
}
