"""Floor 3: what there is to choose from: backends (manifests), agent definitions, tools of agents."""
