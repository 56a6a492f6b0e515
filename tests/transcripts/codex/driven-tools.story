ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> [Agent: house]

[User's current message - respond to this:]
STUB:write=/srv/ann/work/made.txt;;
  started: id=True model='gpt-5.5' version='0.171.0'
  tool _stub9: edit '/srv/ann/work/made.txt'
  asks: 'edit: add /srv/ann/work/made.txt' 'add /srv/ann/work/made.txt\nwritten by stub\n' Allow once [allow_once], Allow exactly this in this session [allow_always], Deny [reject_once]
  answered: Allow once
  tool _stub9 ok: 'add /srv/ann/work/made.txt\nwritten by stub\n'
  text: 'tool said: Exit code: 0\nWall time: 0.2 seconds\nOutput:\nSuccess. Updated the following files:\nA /srv/ann/work/made.txt\n'
  usage: (19616, 14, 258400, 9871) None
  finished
> [Agent: house]

[User's current message - respond to this:]
STUB:bash=echo hi;;
  started: id=True model='gpt-5.5' version='0.171.0'
  tool stub11: shell 'echo hi'
  asks: 'shell: echo hi' "/bin/bash -lc 'echo hi'\nin /srv/ann/work\nWhy it asks: the stub wants it" Allow once [allow_once], Allow exactly this in this session [allow_always], Deny [reject_once]
  answered: denied
  tool stub11 failed: 'declined'
  text: 'tool said: exec_command failed: CreateProcess { message: "Rejected(\\"rejected by user\\")" }'
  usage: (20082, 14, 258400, 10105) None
  finished
> [Agent: house]

[User's current message - respond to this:]
STUB:bash=echo always;;
  started: id=True model='gpt-5.5' version='0.171.0'
  tool stub13: shell 'echo always'
  asks: 'shell: echo always' "/bin/bash -lc 'echo always'\nin /srv/ann/work\nWhy it asks: the stub wants it" Allow once [allow_once], Allow exactly this in this session [allow_always], Deny [reject_once]
  answered: Allow exactly this in this session
  tool stub13 ok: 'always\n'
  text: 'tool said: Chunk ID: 11f04c\nWall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 2\nOutput:\nalways\n'
  usage: (20548, 14, 258400, 10342) None
  finished
> [Agent: house]

[User's current message - respond to this:]
STUB:bash=echo always;;
  started: id=True model='gpt-5.5' version='0.171.0'
  tool stub15: shell 'echo always'
  tool stub15 ok: 'always\n'
  text: 'tool said: Chunk ID: d62b0b\nWall time: 0.0001 seconds\nProcess exited with code 0\nOriginal token count: 2\nOutput:\nalways\n'
  usage: (21036, 14, 258400, 10586) None
  finished
