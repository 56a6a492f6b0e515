skipped: notification '_auth/status_update'
ready: resumed=True version='@agentclientprotocol/claude-agent-acp 0.101.0' model='' id=True
> what word
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  text: 'echo: what word'
  usage: (21485, 3, 200000, 21488) None
  finished
skipped: an answer to nothing that was asked
