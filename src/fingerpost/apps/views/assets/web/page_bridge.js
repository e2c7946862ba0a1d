/** The page in the place of a host: what HostBridge is to a view in an agent's host, this is to a view on the page. */

import { callTool } from "./mcp.js";

export class PageBridge {
  /** `onCalled(args, result)` hears of each call that a view has made by itself, such as Later. */
  constructor(language, onCalled) {
    this.abilities = { serverTools: {}, openLinks: {} };
    this.language = language;
    this.onCalled = onCalled;
  }

  connect(listener) {
    listener.onContext({ locale: this.language, displayMode: "fullscreen" });
  }

  async callTool(name, args, wants) {
    const result = await callTool(name, args, wants);
    if (!result.isError) this.onCalled(args, result);
    return result;
  }

  async request(method, { url }) {
    if (method === "ui/open-link") window.open(url, "_blank", "noopener,noreferrer");
    return {};
  }

  notify() {}
}
