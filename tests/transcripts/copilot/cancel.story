ready: resumed=False version='Copilot 1.0.102' model='' id=True
> STUB:slow=60
  started: id=True model='' version='Copilot 1.0.102'
  text: 'chunk0 chunk1 chunk2 chunk3 chunk4 chunk5 chunk6 chunk7 chunk8 chunk9 '
  usage: (None, None, 128000, 8671) None
  stopped
> after cancel
  started: id=True model='' version='Copilot 1.0.102'
  text: 'chunk0 chunk1 chunk2 chunk3 chunk4 chunk5 chunk6 chunk7 chunk8 chunk9 chunk10 chunk11 chunk12 '
  usage: (None, None, 128000, 8703) None
  finished
> STUB:bash=/usr/bin/python3 -c 'import time; time.sleep(33)';;
  started: id=True model='' version='Copilot 1.0.102'
  tool stub27: execute "/usr/bin/python3 -c 'import time; time.sleep(33)'"
  asks: 'stub' 'command: /usr/bin/python3 -c \'import time; time.sleep(33)\'\ncommands: [\n  "/usr/bin/python3 -c \'import time; time.sleep(33)\'"\n]' Allow once [allow_once], Always allow [allow_always], Deny [reject_once]
  answered: Allow once
  usage: (None, None, 128000, 8762) None
  tool stub27 failed: 'not finished'
  stopped
> after tool cancel
  started: id=True model='' version='Copilot 1.0.102'
  text: 'echo: after tool cancel'
  usage: (None, None, 128000, 8854) None
  finished
> after idle cancel
  started: id=True model='' version='Copilot 1.0.102'
  text: 'echo: after idle cancel'
  usage: (None, None, 128000, 8894) None
  finished
