ready: resumed=False version='cline 3.0.65' model='anthropic/claude-sonnet-5' id=True
> STUB:bash=touch made-by-allow;;
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  tool stub87: execute 'run_commands: touch made-by-allow'
  asks: 'run_commands: touch made-by-allow' 'commands: [\n  "touch made-by-allow"\n]' Allow once [allow_once], Allow always [allow_always], Reject [reject_once]
  answered: Allow once
  tool stub87 ok: ''
  text: 'tool said: [{"query":"touch made-by-allow","result":"","success":true}]'
  finished
> STUB:bash=touch made-by-reject;;
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  tool stub89: execute 'run_commands: touch made-by-reject'
  asks: 'run_commands: touch made-by-reject' 'commands: [\n  "touch made-by-reject"\n]' Allow once [allow_once], Allow always [allow_always], Reject [reject_once]
  answered: Reject
  tool stub89 failed: ''
  text: 'tool said: {"error":"User rejected the tool call -- NOT a tool or system failure. Clarify with user before proceeding."}'
  finished
> STUB:bash=touch made-by-cancelled;;
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  tool stub91: execute 'run_commands: touch made-by-cancelled'
  asks: 'run_commands: touch made-by-cancelled' 'commands: [\n  "touch made-by-cancelled"\n]' Allow once [allow_once], Allow always [allow_always], Reject [reject_once]
  answered: Reject
  tool stub91 failed: ''
  text: 'tool said: {"error":"Permission request was cancelled -- NOT a tool or system failure. Clarify with user before proceeding."}'
  finished
> STUB:bash=touch never;;
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  tool stub93: execute 'run_commands: touch never'
  asks: 'run_commands: touch never' 'commands: [\n  "touch never"\n]' Allow once [allow_once], Allow always [allow_always], Reject [reject_once]
  asks no more
  answered: Reject
  tool stub93 failed: ''
  stopped
> STUB:bash=touch always1;;
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  tool stub94: execute 'run_commands: touch always1'
  asks: 'run_commands: touch always1' 'commands: [\n  "touch always1"\n]' Allow once [allow_once], Allow always [allow_always], Reject [reject_once]
  answered: Allow always
  tool stub94 ok: ''
  text: 'tool said: [{"query":"touch always1","result":"","success":true}]'
  finished
> STUB:bash=touch always2;;
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  tool stub96: execute 'run_commands: touch always2'
  asks: 'run_commands: touch always2' 'commands: [\n  "touch always2"\n]' Allow once [allow_once], Allow always [allow_always], Reject [reject_once]
  answered: Allow always
  tool stub96 ok: ''
  text: 'tool said: [{"query":"touch always2","result":"","success":true}]'
  finished
