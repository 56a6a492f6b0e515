ready: resumed=False version='cline 3.0.65' model='anthropic/claude-sonnet-5' id=True
> STUB:slow=60
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  text: 'chunk0 chunk1 chunk2 chunk3 chunk4 chunk5 chunk6 chunk7 chunk8 '
  stopped
> after cancel
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  text: 'chunk0 chunk1 chunk2 chunk3 chunk4 chunk5 chunk6 chunk7 chunk8 chunk9 chunk10 chunk11 chunk12 '
  finished
> STUB:bash=/usr/bin/python3 -c 'import time; time.sleep(33)';;
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  tool tub101: execute "run_commands: /usr/bin/python3 -c 'import time; time.sleep(33)'"
  asks: "run_commands: /usr/bin/python3 -c 'import time; time.sleep(33)'" 'commands: [\n  "/usr/bin/python3 -c \'import time; time.sleep(33)\'"\n]' Allow once [allow_once], Allow always [allow_always], Reject [reject_once]
  answered: Allow once
  tool tub101 ok: ''
  stopped
> after tool cancel
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  text: 'echo: after tool cancel'
  finished
> after idle cancel
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  text: 'echo: after idle cancel'
  finished
