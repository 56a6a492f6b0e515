ready: resumed=False version='OpenCode 1.18.33' model='' id=True
> STUB:bash=touch made-a;;
  started: id=True model='' version='OpenCode 1.18.33'
  tool tub302: execute 'bash'
  tool tub302: execute 'touch made-a'
  asks: 'touch made-a' 'command: touch made-a' Allow once [allow_once], Always allow [allow_always], Reject [reject_once]
  answered: Allow once
  tool tub302 ok: '(no output)'
  text: 'tool said: (no output)'
  usage: (None, None, 100000, 7836) 0.0
  finished
> STUB:bash=touch made-r;;
  started: id=True model='' version='OpenCode 1.18.33'
  tool tub304: execute 'bash'
  tool tub304: execute 'touch made-r'
  asks: 'touch made-r' 'command: touch made-r' Allow once [allow_once], Always allow [allow_always], Reject [reject_once]
  answered: Reject
  tool tub304 failed: 'The user rejected permission to use this specific tool call.'
  usage: (None, None, 100000, 7866) 0.0
  finished
> STUB:bash=touch made-c;;
  started: id=True model='' version='OpenCode 1.18.33'
  tool tub305: execute 'bash'
  tool tub305: execute 'touch made-c'
  asks: 'touch made-c' 'command: touch made-c' Allow once [allow_once], Always allow [allow_always], Reject [reject_once]
  answered: Reject
  tool tub305 failed: 'The user rejected permission to use this specific tool call.'
  usage: (None, None, 100000, 7955) 0.0
  finished
> STUB:bash=touch never;;
  started: id=True model='' version='OpenCode 1.18.33'
  tool tub306: execute 'bash'
  tool tub306: execute 'touch never'
  asks: 'touch never' 'command: touch never' Allow once [allow_once], Always allow [allow_always], Reject [reject_once]
  asks no more
  answered: Reject
  tool tub306 failed: 'Tool execution aborted'
  usage: (None, None, 100000, 0) 0.0
  stopped
> STUB:bash=touch always1;;
  started: id=True model='' version='OpenCode 1.18.33'
  tool tub307: execute 'bash'
  tool tub307: execute 'touch always1'
  asks: 'touch always1' 'command: touch always1' Allow once [allow_once], Always allow [allow_always], Reject [reject_once]
  answered: Always allow
  tool tub307 ok: '(no output)'
  text: 'tool said: (no output)'
  usage: (None, None, 100000, 8187) 0.0
  finished
> STUB:bash=touch always2;;
  started: id=True model='' version='OpenCode 1.18.33'
  tool tub309: execute 'bash'
  tool tub309: execute 'touch always2'
  tool tub309 ok: '(no output)'
  text: 'tool said: (no output)'
  usage: (None, None, 100000, 8279) 0.0
  finished
