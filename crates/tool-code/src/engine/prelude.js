// Runs before the model's code, so that the code cannot replace anything that this function uses.
(call, unknown, names) => {
  class ToolError extends Error {
    name = "ToolError";
    kind = "failed";
  }
  Object.freeze(ToolError);
  Object.freeze(ToolError.prototype);
  const tools = { __proto__: null };
  for (const name of names) {
    // The error is created here, so that its stack contains the position of the call.
    tools[name] = { [name](...given) { return call(name, given, new ToolError("")); } }[name];
  }
  Object.freeze(tools);
  const asked = new Set(["then", "toJSON", "toString", "valueOf", "constructor"]);
  const has = asked.has.bind(asked);
  return Object.freeze(new Proxy(tools, {
    __proto__: null,
    get: (own, name) => name in own || typeof name === "symbol" || has(name) ? own[name] : unknown(name),
  }));
}
