ready: resumed=False version='2.1.332' model='' id=False
> STUB:bash=touch xallow_once;;
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  text: 'I will call a tool. '
  tool b00171: Bash 'touch xallow_once'
  asks: 'Bash: touch xallow_once' 'command: touch xallow_once' Allow once [allow_once], Allow Bash(touch xallow_once) in this session [allow_always], Deny [reject_once]
  answered: Allow once
  tool b00171 ok: '(Bash completed with no output)'
  text: '\n\ntool said: (Bash completed with no output)'
  usage: (46544, 17, 200000, 23327) 0.139887
  finished
> STUB:bash=touch xdeny;;
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  text: 'I will call a tool. '
  tool b00173: Bash 'touch xdeny'
  asks: 'Bash: touch xdeny' 'command: touch xdeny' Allow once [allow_once], Allow Bash(touch xdeny *) in this session [allow_always], Deny [reject_once]
  answered: denied
  tool b00173 failed: 'The person did not allow this.'
  text: '\n\ntool said: The person did not allow this.'
  usage: (46917, 17, 200000, 23512) 0.141006
  finished
> STUB:bash=touch xallow_always;;
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  text: 'I will call a tool. '
  tool b00175: Bash 'touch xallow_always'
  asks: 'Bash: touch xallow_always' 'command: touch xallow_always' Allow once [allow_once], Allow Bash(touch xallow_always) in this session [allow_always], Deny [reject_once]
  answered: Allow Bash(touch xallow_always) in this session
  tool b00175 ok: '(Bash completed with no output)'
  text: '\n\ntool said: (Bash completed with no output)'
  usage: (47294, 17, 200000, 23702) 0.142137
  finished
