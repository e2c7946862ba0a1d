/** The view's end of MCP Apps, revision 2026-01-26: JSON-RPC 2.0 by postMessage with the host that shows it. */

const PROTOCOL = "2026-01-26";
const METHOD_NOT_FOUND = -32601;
const LONGEST_CALL_MS = 60000;

export class HostBridge {
  constructor(name) {
    this.name = name;
    this.listener = null;
    this.context = {};
    this.abilities = {};
    this.waiting = new Map();
    this.lastId = 0;
    window.addEventListener("message", (event) => this.receive(event));
  }

  /**
   * Introduce the view to the host; nothing comes from the host before.
   * `listener` has onInput(arguments), onResult(result), onCancelled(reason) and onContext(context).
   */
  async connect(listener) {
    this.listener = listener;
    const host = await this.request("ui/initialize", {
      protocolVersion: PROTOCOL,
      appInfo: { name: `fingerpost-${this.name}`, version: "1" },
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
    });
    this.abilities = host.hostCapabilities || {};
    this.context = host.hostContext || {};
    this.listener.onContext(this.context);
    this.notify("ui/notifications/initialized", {});
  }

  /** Call a tool of the server; the host may refuse. */
  callTool(name, args, meta) {
    return this.request("tools/call", { name, arguments: args, _meta: meta });
  }

  request(method, params) {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(id);
        reject(new Error("timeout"));
      }, LONGEST_CALL_MS);
      this.waiting.set(id, { resolve, reject, timer });
      this.post({ id, method, params });
    });
  }

  notify(method, params) {
    this.post({ method, params });
  }

  post(message) {
    window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }

  receive(event) {
    const message = event.data;
    if (event.source !== window.parent || !message || message.jsonrpc !== "2.0") return;
    if (message.method === undefined) this.settle(message);
    else if (message.id === undefined) this.hear(message.method, message.params || {});
    else if (message.method === "ping" || message.method === "ui/resource-teardown") this.post({ id: message.id, result: {} });
    else this.post({ id: message.id, error: { code: METHOD_NOT_FOUND, message: "Method not found" } });
  }

  settle(message) {
    const asked = this.waiting.get(message.id);
    if (!asked) return;
    this.waiting.delete(message.id);
    clearTimeout(asked.timer);
    if (message.error) asked.reject(new Error(String(message.error.message || message.error.code)));
    else asked.resolve(message.result || {});
  }

  hear(method, params) {
    if (method === "ui/notifications/tool-input") this.listener.onInput(params.arguments || {});
    else if (method === "ui/notifications/tool-result") this.listener.onResult(params);
    else if (method === "ui/notifications/tool-cancelled") this.listener.onCancelled(params.reason || "");
    else if (method === "ui/notifications/host-context-changed") {
      this.context = { ...this.context, ...params };
      this.listener.onContext(this.context);
    }
  }
}
