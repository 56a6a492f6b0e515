"""A manifest to plan runs with."""

from dataclasses import replace
from typing import Any

from kai.model.backends import Can, LaunchPlan, Login, Manifest, ProtocolName

LAUNCH = LaunchPlan(
    program="agent",
    argv=("--json", '{"a": {}}'),
    resume=("--resume", "{session}"),
    model=("--model={model}",),
    effort=("--effort", "{effort}"),
    ask=("--ask",),
    bypass=("--yes", "{backend_dir}/policy.json"),
    temporary=("--forget",),
    program_env="KAI_AGENT",
    set_env=(("NO_UPDATE", "1"), ("POLICY", "{backend_dir}/{python}")),
    pass_env=("AGENT_KEY", "AGENT_HOME", "AGENT_URL"),
    strip_env=("AGENT_KEY",),
    ask_env=(("MODE", "ask"),),
    bypass_env=(("MODE", "all"),),
)


def manifest(*, launch: dict[str, Any] | None = None, **changes: Any) -> Manifest:
    base = Manifest(
        id="agent",
        title="Agent",
        protocol=ProtocolName.ACP,
        launch=replace(LAUNCH, **(launch or {})),
        folder="/backends/agent",
        can=Can(temporary=True),
        login=Login(files=(".agent/auth.json",)),
        install="npm i -g agent",
    )
    return replace(base, **changes)
