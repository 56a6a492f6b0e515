skipped: notification '_auth/status_update'
ready: resumed=False version='@agentclientprotocol/claude-agent-acp 0.101.0' model='' id=True
> hello one
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  text: 'echo: hello one'
  usage: (21414, 3, 200000, 21417) 0.064287
  finished
> STUB:think
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  thinking: 'let me think about it'
  text: 'thought and done'
  usage: (21482, 4, 200000, 21486) 0.067674
  finished
> STUB:slow=5
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  text: 'chunk0 chunk1 chunk2 chunk3 chunk4 '
  usage: (21572, 7, 200000, 21579) 0.067959
  finished
> STUB:bash=echo hi-from-bash;;
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  text: 'I will call a tool. '
  tool b00528: Bash 'Terminal'
  tool b00528: Bash 'echo hi-from-bash'
  tool b00528 ok: 'hi-from-bash'
  text: '\n\ntool said: hi-from-bash'
  usage: (43405, 12, 200000, 21760) 0.133545
  finished
> STUB:write=$CWD/w1.txt;;
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  text: 'I will call a tool. '
  tool b00531: Write 'Preparing file…'
  tool b00531: Write '$CWD/w1.txt'
  asks: 'Write w1.txt' 'file_path: $CWD/w1.txt\ncontent: written by stub\n\n$CWD/w1.txt\n- null\n+ written by stub\n' Yes [allow_once], Yes, allow all edits during this session [allow_always], No [reject_once]
  answered: Yes
  tool b00531 ok: 'File created successfully at: $CWD/w1.txt (file state is current in your context'
  text: '\n\ntool said: File created successfully at: /var/tm$PATH1.txt (file state is current in your context — no need to Read it back)'
  usage: (43813, 42, 200000, 22014) 0.135234
  finished
