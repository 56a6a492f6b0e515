// Pi tells its version nowhere in RPC mode; kai shows it with each turn.
import { VERSION } from "@earendil-works/pi-coding-agent";

export default (pi) => {
  pi.on("session_start", (_event, ctx) => ctx.ui.setStatus("kai.version", VERSION));
};
