// Loaded in every session: what RPC mode does not tell, and what its shell commands must not be told.
import { createBashTool, VERSION } from "@earendil-works/pi-coding-agent";

export default (pi) => {
  pi.on("session_start", (_event, ctx) => ctx.ui.setStatus("kai.version", VERSION));

  // The daemon's keys are for the model. A command, which anybody in a channel may have asked for, gets none of them.
  const spawnHook = (run) => {
    const env = Object.entries(run.env ?? process.env).filter(([name]) => !name.endsWith("_API_KEY"));
    return { ...run, env: Object.fromEntries(env) };
  };
  pi.registerTool(createBashTool(process.cwd(), { spawnHook }));
};
