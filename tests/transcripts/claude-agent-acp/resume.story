skipped: notification '_auth/status_update'
ready: resumed=True version='@agentclientprotocol/claude-agent-acp 0.101.0' model='' id=True
> what word again
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  text: 'echo: what word again'
  usage: (21554, 5, 200000, 21559) None
  finished
