skipped: notification '_auth/status_update'
ready: resumed=False version='@agentclientprotocol/claude-agent-acp 0.101.0' model='' id=True
> STUB:bash=touch made-by-allow;;
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  text: 'I will call a tool. '
  tool b00535: Bash 'Terminal'
  tool b00535: Bash 'touch made-by-allow'
  asks: 'touch made-by-allow' 'command: touch made-by-allow' Yes [allow_once], No [reject_once]
  answered: Yes
  tool b00535 ok: '(Bash completed with no output)'
  text: '\n\ntool said: (Bash completed with no output)'
  usage: (42950, 17, 200000, 21540) 0.132258
  finished
> STUB:bash=touch made-by-reject;;
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  text: 'I will call a tool. '
  tool b00537: Bash 'Terminal'
  tool b00537: Bash 'touch made-by-reject'
  asks: 'touch made-by-reject' 'command: touch made-by-reject' Yes [allow_once], No [reject_once]
  answered: No
  tool b00537 failed: 'User refused permission to run tool'
  text: '\n\ntool said: User refused permission to run tool'
  usage: (43332, 18, 200000, 21733) 0.133419
  finished
> STUB:bash=touch made-by-cancelled;;
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  text: 'I will call a tool. '
  tool b00540: Bash 'Terminal'
  tool b00540: Bash 'touch made-by-cancelled'
  asks: 'touch made-by-cancelled' 'command: touch made-by-cancelled' Yes [allow_once], No [reject_once]
  answered: No
  tool b00540 failed: 'Tool permission request failed: Error: Tool use aborted'
  text: '\n\ntool said: Tool permission request failed: Error: Tool use aborted'
  usage: (43725, 23, 200000, 21937) 0.134676
  finished
> STUB:bash=touch never;;
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  text: 'I will call a tool. '
  tool b00543: Bash 'Terminal'
  tool b00543: Bash 'touch never'
  asks: 'touch never' 'command: touch never' Yes [allow_once], No [reject_once]
  asks no more
  answered: No
  tool b00543 failed: 'Tool permission request failed: Error: Tool use aborted'
  usage: (22005, 7, 200000, 22012) 0.069267
  stopped
> STUB:bash=touch always1;;
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  text: 'I will call a tool. '
  tool b00545: Bash 'Terminal'
  tool b00545: Bash 'touch always1'
  asks: 'touch always1' 'command: touch always1' Yes [allow_once], No [reject_once]
  answered: Yes
  tool b00545 ok: '(Bash completed with no output)'
  text: '\n\ntool said: (Bash completed with no output)'
  usage: (44683, 17, 200000, 22406) 0.137451
  finished
> STUB:bash=touch always2;;
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  text: 'I will call a tool. '
  tool b00548: Bash 'Terminal'
  tool b00548: Bash 'touch always2'
  asks: 'touch always2' 'command: touch always2' Yes [allow_once], No [reject_once]
  answered: Yes
  tool b00548 ok: '(Bash completed with no output)'
  text: '\n\ntool said: (Bash completed with no output)'
  usage: (45057, 17, 200000, 22593) 0.138573
  finished
