// A client of the admin API with the types that openapi-typescript has generated. Prints a summary of the responses.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

declare const process: { argv: string[] };

type Approval = components["schemas"]["Approval"];

const [url, token, id] = process.argv.slice(2);
const api = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } });

const listed = await api.GET("/v1/approvals", { params: { query: { status: "pending", limit: 10 } } });
if (!listed.data) throw new Error(listed.error.detail);
const pending: Approval[] = listed.data.items;

const answered = await api.POST("/v1/approvals/{id}/answer", {
  params: { path: { id } },
  body: { verdict: "approve" },
});
if (!answered.data) throw new Error(answered.error.detail);
const assignee: string | null | undefined = answered.data.assignee;
if (assignee) throw new Error(`the approval has the unexpected assignee ${assignee}`);

const missing = await api.GET("/v1/approvals/{id}", { params: { path: { id: "nothing" } } });
if (missing.data) throw new Error("an unknown approval was found");

// These calls must not compile.
// @ts-expect-error a verdict is one of three words
await api.POST("/v1/approvals/{id}/answer", { params: { path: { id: "nothing" } }, body: { verdict: "maybe" } });
// @ts-expect-error a status is one of six words
await api.GET("/v1/approvals", { params: { query: { status: "open" } } });
// @ts-expect-error the policy requires `If-Match`
await api.PUT("/v1/policy", { body: {} });

const kind = missing.error.type.replace("urn:tool-server:", "");
console.log(`${pending.length} pending, ${answered.data.id} ${answered.data.status}, ${missing.response.status} ${kind}`);
