ready: resumed=False version='' model='' id=False
> hello one
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  text: 'echo: hello one'
  usage: (22115, 3, 200000, 22115) 0.06639
  finished
> STUB:bash=echo hi-from-bash;;
  started: id=True model='claude-sonnet-4-5' version=''
  text: 'I will call a tool. '
  tool b00003: Bash 'echo hi-from-bash'
  tool b00003 ok: 'hi-from-bash'
  text: '\n\ntool said: hi-from-bash'
  usage: (44481, 12, 200000, 22293) 0.133623
  finished
> hello three
  started: id=True model='claude-sonnet-4-5' version=''
  text: 'echo: hello three'
  usage: (22363, 4, 200000, 22363) 0.067149
  finished
