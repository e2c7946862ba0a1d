/** Calls of tools at the server's own MCP endpoint, the same way that an agent takes. */

const ENDPOINT = "/mcp";
const PROTOCOL = "2026-07-28";
const LONGEST_CALL_MS = 60000;

let lastId = 0;

/**
 * Return a tool's result: {structuredContent, isError, content, _meta}. `wants` joins the call's `_meta`.
 * It throws an Error whose message is for people where the server cannot be reached or refuses.
 */
export function callTool(name, args, wants = {}) {
  return send("tools/call", name, { name, arguments: args }, wants);
}

/** Return the JSON of a resource. */
export async function readResource(uri) {
  const { contents } = await send("resources/read", uri, { uri });
  return JSON.parse(contents[0].text);
}

async function send(method, name, params, wants = {}) {
  const meta = {
    ...wants,
    "io.modelcontextprotocol/protocolVersion": PROTOCOL,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "fingerpost-web", version: "1" },
  };
  const response = await fetch(ENDPOINT, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "Accept": "application/json",
      "MCP-Protocol-Version": PROTOCOL,
      "Mcp-Method": method,
      "Mcp-Name": name,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: ++lastId, method, params: { ...params, _meta: meta } }),
    signal: AbortSignal.timeout(LONGEST_CALL_MS),
  });
  const answer = await response.json().catch(() => ({}));
  if (answer.error) throw new Error(answer.error.message);
  if (!response.ok || !answer.result) throw new Error(`HTTP ${response.status}`);
  return answer.result;
}
