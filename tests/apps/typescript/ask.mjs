// Asks the server over stdio with the TypeScript SDK, and prints what its user would get as JSON.
// Then it asks a server at URL, whose only place a second connection takes with half a request.
// node ask.mjs 1|2 FOLDER URL COMMAND ARGUMENT...; the SDK is found from the folder that holds node_modules.
import { createRequire } from "node:module";
import { connect } from "node:net";
import { pathToFileURL } from "node:url";

const [, , major, folder, url, command, ...args] = process.argv;
const require = createRequire(pathToFileURL(`${folder}/`));
const load = (name) => require(name);
const { Client } = major === "1" ? load("@modelcontextprotocol/sdk/client/index.js") : load("@modelcontextprotocol/client");
const { StreamableHTTPClientTransport } =
  major === "1" ? load("@modelcontextprotocol/sdk/client/streamableHttp.js") : load("@modelcontextprotocol/client");
const { StdioClientTransport } =
  major === "1" ? load("@modelcontextprotocol/sdk/client/stdio.js") : load("@modelcontextprotocol/client/stdio");

const label = (value) => ({ type: "label", value });
const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "ignore" }));
const told = {};
const ask = async (key, name, given) => {
  try {
    told[key] = await client.callTool({ name, arguments: given });
  } catch (error) {
    told[key] = { thrown: String(error) };
  }
};
// The client checks each answer against the schema only once it has listed the tools.
told.tools = (await client.listTools()).tools.map((tool) => tool.name);
await ask("ambiguous", "plan_trip", { origin: label("kamp"), destination: label("Espoo") });
await ask("unknown", "plan_trip", { origin: label("Xyzzyq"), destination: label("Espoo") });
await ask("invalid", "find_stops", { coordinate: { lat: 160, lon: 24 } });
await ask("sound", "findAddressOrStop", { rawText: "Kamppi" });
await ask("figures", "sec_financial_data", { query_type: "financial_facts", parameters: { ticker: "AAPL", metrics: ["Revenue"], period: "2022" } });
await ask("large", "sec_financial_data", { query_type: "compare", parameters: { tickers: ["AAPL", "NVDA"], metrics: ["roa", "roe", "net margin", "gross margin"] } });
await ask("nothing", "sec_financial_data", { query_type: "financial_facts", parameters: { ticker: "XXXX", metrics: ["Revenue"], period: "2022" } });
await client.close();

const limited = new Client({ name: "test", version: "1" });
await limited.connect(new StreamableHTTPClientTransport(new URL(url)));
const other = connect(new URL(url).port, "127.0.0.1");
other.write("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n");
while ((await fetch(url, { method: "POST", body: "{}" })).status !== 429);
await limited.callTool({ name: "get_user_variables", arguments: {} }).catch((error) => (told.limited = String(error)));
other.destroy();
await limited.close();
console.log(JSON.stringify(told));
