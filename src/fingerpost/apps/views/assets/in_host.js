/** Show a view in a host of MCP Apps: the whole document is the view. */

import { HostBridge } from "./bridge.js";
import { Frame } from "./frame.js";

export function showInHost(view) {
  const [main, live] = ["view", "live"].map((id) => document.getElementById(id));
  return new Frame(view, new HostBridge(view.name), main, live).start();
}
