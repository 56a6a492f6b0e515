ready: resumed=False version='cline 3.0.65' model='anthropic/claude-sonnet-5' id=True
> hello one
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  text: 'echo: hello one'
  finished
> STUB:think
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  thinking: 'let me think about it'
  text: 'thought and done'
  finished
> STUB:slow=5
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  text: 'chunk0 chunk1 chunk2 chunk3 chunk4 '
  finished
> STUB:bash=echo hi-from-bash;;
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  tool stub82: execute 'run_commands: echo hi-from-bash'
  asks: 'run_commands: echo hi-from-bash' 'commands: [\n  "echo hi-from-bash"\n]' Allow once [allow_once], Allow always [allow_always], Reject [reject_once]
  answered: Allow once
  tool stub82 ok: ''
  text: 'tool said: [{"query":"echo hi-from-bash","result":"hi-from-bash\\n","success":true}]'
  finished
> STUB:write=$CWD/w1.txt;;
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  tool stub84: edit '$CWD/w1.txt'
  asks: 'editor: {"path":"$CWD/w1.txt","new_text":"stub"}' 'path: $CWD/w1.txt\nnew_text: stub' Allow once [allow_once], Allow always [allow_always], Reject [reject_once]
  answered: Allow once
  tool stub84 ok: ''
  text: 'tool said: {"query":"edit:$CWDne/w1.txt","result":"File created successfully at: $CWDine/w1.txt","success":true}'
  finished
