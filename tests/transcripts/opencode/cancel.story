ready: resumed=False version='OpenCode 1.18.33' model='' id=True
> STUB:slow=60
  started: id=True model='' version='OpenCode 1.18.33'
  text: 'chunk0 chunk1 chunk2 chunk3 chunk4 chunk5 chunk6 chunk7 '
  usage: (None, None, 100000, 0) 0.0
  stopped
> after cancel
  started: id=True model='' version='OpenCode 1.18.33'
  text: 'echo: after cancel'
  usage: (None, None, 100000, 7805) 0.0
  finished
> STUB:bash=/usr/bin/python3 -c 'import time; time.sleep(33)';;
  started: id=True model='' version='OpenCode 1.18.33'
  tool tub191: execute 'bash'
  tool tub191: execute "/usr/bin/python3 -c 'import time; time.sleep(33)'"
  asks: "/usr/bin/python3 -c 'import time; time.sleep(33)'" "command: /usr/bin/python3 -c 'import time; time.sleep(33)'" Allow once [allow_once], Always allow [allow_always], Reject [reject_once]
  answered: Allow once
  tool tub191 ok: '(no output)\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>'
  usage: (None, None, 100000, 0) 0.0
  stopped
> after tool cancel
  started: id=True model='' version='OpenCode 1.18.33'
  text: 'echo: after tool cancel'
  usage: (None, None, 100000, 7944) 0.0
  finished
> after idle cancel
  started: id=True model='' version='OpenCode 1.18.33'
  text: 'echo: after idle cancel'
  usage: (None, None, 100000, 7971) 0.0
  finished
