ready: resumed=False version='1.6.0' model='stub/stub-model' id=True
> [Agent: house]

[User's current message - respond to this:]
STUB:slow=50
  started: id=True model='stub/stub-model' version='1.6.0'
  text: 'chunk0 '
  stopped
> [Agent: house]

[User's current message - respond to this:]
STUB:say=still here;;
  started: id=True model='stub/stub-model' version='1.6.0'
  text: 'still here'
  usage: (1412, 7, 128000, 1419) 0.001426
  finished
> [Agent: house]

[User's current message - respond to this:]
STUB:bash=touch begun;;
  started: id=True model='stub/stub-model' version='1.6.0'
  text: 'I will call a tool. '
  tool _stub3: bash 'touch begun'
  asks: 'bash: touch begun' 'command: touch begun' Allow once [allow_once], Allow bash(touch begun) in this session [allow_always], Deny [reject_once]
  asks no more
  tool _stub3 failed: 'Operation aborted'
  usage: (1459, 7, 128000, 1466) 0.001473
  stopped
> [Agent: house]

[User's current message - respond to this:]
STUB:say=still here, too;;
  started: id=True model='stub/stub-model' version='1.6.0'
  text: 'still here, too'
  usage: (1560, 7, 128000, 1567) 0.001574
  finished
> [Agent: house]

[User's current message - respond to this:]
STUB:hang
  started: id=True model='stub/stub-model' version='1.6.0'
  stopped
> [Agent: house]

[User's current message - respond to this:]
STUB:say=and now;;
  started: id=True model='stub/stub-model' version='1.6.0'
  text: 'and now'
  usage: (1640, 7, 128000, 1647) 0.001654
  finished
