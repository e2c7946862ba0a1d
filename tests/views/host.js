/* The tests' own host of MCP Apps: one frame, the messages of revision 2026-01-26, and a list of all that it heard. */

const heard = [];
const state = { context: {}, capabilities: {}, input: {}, result: null };

function send(message) {
  document.querySelector("iframe").contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
}

async function answer(message) {
  if (message.method === "ui/initialize") {
    return { protocolVersion: "2026-01-26", hostInfo: { name: "tests", version: "1" }, hostCapabilities: state.capabilities, hostContext: state.context };
  }
  if (message.method === "tools/call") return JSON.parse(await window.callTool(JSON.stringify(message.params)));
  if (message.method === "ui/open-link") return {};
  throw new Error(`unknown method ${message.method}`);
}

window.addEventListener("message", async (event) => {
  const frame = document.querySelector("iframe");
  if (event.source !== frame.contentWindow) return;
  const message = event.data;
  heard.push(message);
  if (message.method === "ui/notifications/initialized") {
    send({ method: "ui/notifications/tool-input", params: { arguments: state.input } });
    if (state.result) send({ method: "ui/notifications/tool-result", params: state.result });
  } else if (message.method === "ui/notifications/size-changed") {
    frame.style.height = `${message.params.height}px`;
  } else if (message.id !== undefined && message.method) {
    try {
      send({ id: message.id, result: await answer(message) });
    } catch (error) {
      send({ id: message.id, error: { code: -32000, message: error.message } });
    }
  }
});

function show(given) {
  Object.assign(state, given);
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts allow-same-origin";
  frame.src = "http://sandbox.test/view";
  document.body.append(frame);
}
