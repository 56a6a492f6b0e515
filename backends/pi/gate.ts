// Pi asks nobody before it runs a tool. With this extension it asks kai, which asks the person.
import kai from "./kai.ts";

const READS = new Set(["read", "grep", "find", "ls"]);
// Tools of kai that only look, as commands: with plain words alone, so that nothing else hides in the line.
const LOOKS = (process.env.KAI_LOOKS ?? "").split(",").filter(Boolean).map((name) => name.replaceAll("_", "[_-]"));
const LOOK = new RegExp(`^kai tool (${LOOKS.join("|")})( [\\p{L}\\p{N} .,:?'"_-]*)?$`, "u");
const looks = (tool, input) => LOOKS.length > 0 && tool === "bash" && LOOK.test(input?.command ?? "");

export default (pi) => {
  kai(pi);
  const always = new Set(); // what the person allowed in this session

  // kai starts no turn until it has seen this.
  pi.on("session_start", (_event, ctx) => ctx.ui.setStatus("kai.gate", "on"));

  pi.on("tool_call", async ({ toolName: tool, toolCallId: id, input }, ctx) => {
    const about = `${tool}:${input?.command ?? input?.path ?? JSON.stringify(input)}`;
    if (READS.has(tool) || always.has(about) || looks(tool, input)) return undefined;
    const title = JSON.stringify({ "kai.gate": { tool, id, input } });
    const answer = await ctx.ui.select(title, ["once", "always", "deny"], { signal: ctx.signal });
    if (answer === "always") always.add(about);
    if (answer === "once" || answer === "always") return undefined;
    return { block: true, reason: "The person did not allow this." };
  });
};
