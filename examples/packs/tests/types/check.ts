// Checks the generated types at compile time, and the zod schemas at run time.

import { examples } from "./examples.js";
import { results } from "./results.js";
import { toolNames, toolSchemas, type ToolName, type Tools } from "./tools.js";

// A client with one function for all tools.
function call<Name extends ToolName>(name: Name, input: Tools[Name]["input"]): Tools[Name]["input"] {
  return toolSchemas[name].input.parse(input);
}

call("find_files", { pattern: "*.rs", limit: 3 });
// @ts-expect-error: `pattern` is missing
const missing = () => call("find_files", { limit: 3 });
// @ts-expect-error: the name of the argument is wrong
const unknown = () => call("find_files", { pattern: "*.rs", folder: "src" });
// @ts-expect-error: there is no tool of this name
const absent = () => call("find_file", { pattern: "*.rs" });
const paths: (output: Tools["find_files"]["output"]) => string[] = (output) => output.paths;

for (const refused of [missing, unknown]) {
  let accepted = true;
  try {
    refused();
  } catch {
    accepted = false;
  }
  if (accepted) throw new Error(`accepted: ${refused}`);
}

let count = 0;
for (const name of toolNames) {
  for (const example of (examples as { [name: string]: unknown[] })[name] ?? []) {
    toolSchemas[name].input.parse(example);
    count += 1;
  }
  // A key that no tool has.
  if (toolSchemas[name].input.safeParse({ surely_unknown: 1 }).success) throw new Error(`${name} accepts any key`);
}

for (const [name, result] of results) {
  toolSchemas[name].output.parse(result);
}

// A length counts characters, and a bound of a number is checked.
const pattern = (length: number) => toolSchemas.find_files.input.safeParse({ pattern: "😀".repeat(length) }).success;
const limit = (limit: number) => toolSchemas.find_files.input.safeParse({ pattern: "*", limit }).success;
const limit_or_none = (limit: null | undefined) => toolSchemas.find_files.input.safeParse({ pattern: "*", limit }).success;
const verdicts = [pattern(1000), pattern(1001), pattern(0), limit(1000), limit(1001), limit(0.5), limit_or_none(null), limit_or_none(undefined)];
if (verdicts.join() !== "true,false,false,true,false,false,true,true") throw new Error(verdicts.join());

console.log(`${count} examples, ${results.length} results, ${typeof paths}, ${typeof absent}`);
