ready: resumed=False version='1.6.0' model='stub/stub-model' id=True
> [Agent: house]

[User's current message - respond to this:]
STUB:bash=touch made;;
  started: id=True model='stub/stub-model' version='1.6.0'
  text: 'I will call a tool. '
  tool _stub1: bash 'touch made'
  asks: 'bash: touch made' 'command: touch made' Allow once [allow_once], Allow bash(touch made) in this session [allow_always], Deny [reject_once]
  answered: Allow once
  tool _stub1 ok: '(no output)'
  text: '\n\ntool said: (no output)'
  usage: (2821, 14, 128000, 1449) 0.002849
  finished
> [Agent: house]

[User's current message - respond to this:]
STUB:bash=touch made;;
  started: id=True model='stub/stub-model' version='1.6.0'
  text: 'I will call a tool. '
  tool _stub3: bash 'touch made'
  asks: 'bash: touch made' 'command: touch made' Allow once [allow_once], Allow bash(touch made) in this session [allow_always], Deny [reject_once]
  answered: denied
  tool _stub3 failed: 'The person did not allow this.'
  text: '\n\ntool said: The person did not allow this.'
  usage: (3049, 14, 128000, 1565) 0.003077
  finished
> [Agent: house]

[User's current message - respond to this:]
STUB:bash=touch made;;
  started: id=True model='stub/stub-model' version='1.6.0'
  text: 'I will call a tool. '
  tool _stub5: bash 'touch made'
  asks: 'bash: touch made' 'command: touch made' Allow once [allow_once], Allow bash(touch made) in this session [allow_always], Deny [reject_once]
  answered: Allow bash(touch made) in this session
  tool _stub5 ok: '(no output)'
  text: '\n\ntool said: (no output)'
  usage: (3288, 14, 128000, 1682) 0.003316
  finished
> [Agent: house]

[User's current message - respond to this:]
STUB:bash=touch made;;
  started: id=True model='stub/stub-model' version='1.6.0'
  text: 'I will call a tool. '
  tool _stub7: bash 'touch made'
  tool _stub7 ok: '(no output)'
  text: '\n\ntool said: (no output)'
  usage: (3512, 14, 128000, 1794) 0.00354
  finished
> [Agent: house]

[User's current message - respond to this:]
STUB:write=x.txt;;
  started: id=True model='stub/stub-model' version='1.6.0'
  text: 'I will call a tool. '
  tool _stub9: write 'x.txt'
  asks: 'write: x.txt' 'path: x.txt\ncontent: written by stub\n' Allow once [allow_once], Allow write(x.txt) in this session [allow_always], Deny [reject_once]
  answered: Allow once
  tool _stub9 ok: 'Successfully wrote to x.txt'
  text: '\n\ntool said: Successfully wrote to x.txt'
  usage: (3747, 14, 128000, 1918) 0.003775
  finished
> [Agent: house]

[User's current message - respond to this:]
STUB:read=x.txt;;
  started: id=True model='stub/stub-model' version='1.6.0'
  text: 'I will call a tool. '
  tool stub11: read 'x.txt'
  tool stub11 ok: 'written by stub\n'
  text: '\n\ntool said: written by stub\n'
  usage: (3989, 14, 128000, 2033) 0.004017
  finished
