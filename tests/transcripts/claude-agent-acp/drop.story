skipped: notification '_auth/status_update'
ready: resumed=False version='@agentclientprotocol/claude-agent-acp 0.101.0' model='' id=True
> STUB:drop
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  text: 'partial one partial two \n\npartial one partial two \n\npartial one partial two \n\npartial one partial two '
  usage: (128585, 18, 200000, 21448) 0.386025
  finished
