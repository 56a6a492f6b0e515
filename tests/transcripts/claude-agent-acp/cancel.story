skipped: notification '_auth/status_update'
ready: resumed=False version='@agentclientprotocol/claude-agent-acp 0.101.0' model='' id=True
> STUB:slow=60
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  text: 'chunk0 chunk1 chunk2 chunk3 chunk4 chunk5 chunk6 chunk7 chunk8 chunk9 '
  usage: (None, None, 200000, 21416) 0.003138
  stopped
> after cancel
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  text: 'echo: ]\n\nafter cancel'
  usage: (21513, 5, 200000, 21518) 0.064614
  finished
> STUB:bash=/usr/bin/python3 -c 'import time; time.sleep(33)';;
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  text: 'I will call a tool. '
  tool b00555: Bash 'Terminal'
  tool b00555: Bash "/usr/bin/python3 -c 'import time; time.sleep(33)'"
  asks: "/usr/bin/python3 -c 'import time; time.sleep(33)'" "command: /usr/bin/python3 -c 'import time; time.sleep(33)'" Yes [allow_once], Yes, and don't ask again for /usr/bin/python3 -c 'import time; time.sleep(33)' commands [allow_always], No [reject_once]
  answered: Yes
  tool b00555 failed: "The user doesn't want to proceed with this tool use. The tool use was rejected ("
  usage: (21595, 7, 200000, 21602) 0.068613
  stopped
> after tool cancel
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  text: 'echo: for tool use]\n\nafter tool cancel'
  usage: (21888, 9, 200000, 21897) 0.065799
  finished
> after idle cancel
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  text: 'echo: after idle cancel'
  usage: (21964, 5, 200000, 21969) 0.073419
  finished
