ready: resumed=False version='Copilot 1.0.102' model='' id=True
> STUB:bash=touch made-by-allow;;
  started: id=True model='' version='Copilot 1.0.102'
  tool _stub9: execute 'touch made-by-allow'
  asks: 'stub' 'command: touch made-by-allow\ncommands: [\n  "touch made-by-allow"\n]' Allow once [allow_once], Always allow [allow_always], Deny [reject_once]
  answered: Allow once
  tool _stub9 ok: '\n<shellId: 0 completed with exit code 0>'
  text: 'tool said: \n<shellId: 0 completed with exit code 0>'
  usage: (None, None, 128000, 8707) None
  finished
> STUB:bash=touch made-by-reject;;
  started: id=True model='' version='Copilot 1.0.102'
  tool stub11: execute 'touch made-by-reject'
  asks: 'stub' 'command: touch made-by-reject\ncommands: [\n  "touch made-by-reject"\n]' Allow once [allow_once], Always allow [allow_always], Deny [reject_once]
  answered: Deny
  tool stub11 failed: ''
  usage: (None, None, 128000, 8755) None
  finished
> STUB:bash=touch made-by-cancelled;;
  started: id=True model='' version='Copilot 1.0.102'
  tool stub12: execute 'touch made-by-cancelled'
  asks: 'stub' 'command: touch made-by-cancelled\ncommands: [\n  "touch made-by-cancelled"\n]' Allow once [allow_once], Always allow [allow_always], Deny [reject_once]
  answered: Deny
  tool stub12 failed: ''
  usage: (None, None, 128000, 8819) None
  finished
> STUB:bash=touch never;;
  started: id=True model='' version='Copilot 1.0.102'
  tool stub13: execute 'touch never'
  asks: 'stub' 'command: touch never\ncommands: [\n  "touch never"\n]' Allow once [allow_once], Always allow [allow_always], Deny [reject_once]
  asks no more
  answered: Deny
  usage: (None, None, 128000, 8896) None
  tool stub13 failed: 'not finished'
  stopped
> STUB:bash=touch always1;;
  started: id=True model='' version='Copilot 1.0.102'
  tool stub14: execute 'touch always1'
  asks: 'stub' 'command: touch always1\ncommands: [\n  "touch always1"\n]' Allow once [allow_once], Always allow [allow_always], Deny [reject_once]
  answered: Always allow
  tool stub14 ok: '\n<shellId: 4 completed with exit code 0>'
  text: 'tool said: \n<shellId: 4 completed with exit code 0>'
  usage: (None, None, 128000, 9009) None
  finished
> STUB:bash=touch always2;;
  started: id=True model='' version='Copilot 1.0.102'
  tool stub16: execute 'touch always2'
  asks: 'stub' 'command: touch always2\ncommands: [\n  "touch always2"\n]' Allow once [allow_once], Always allow [allow_always], Deny [reject_once]
  answered: Always allow
  tool stub16 ok: '\n<shellId: 5 completed with exit code 0>'
  text: 'tool said: \n<shellId: 5 completed with exit code 0>'
  usage: (None, None, 128000, 9084) None
  finished
