ready: resumed=False version='0.171.0' model='gpt-6.2-sol' id=True
> [Agent: house]

[User's current message - respond to this:]
STUB:bash=touch /srv/ann/work/begun && s
  started: id=True model='gpt-6.2-sol' version='0.171.0'
  tool cfe254: shell 'touch /srv/ann/work/begun && sleep 300'
  asks: 'shell: touch /srv/ann/work/begun && sleep 300' "/bin/bash -lc 'touch /srv/ann/work/begun && sleep 300'\nin /srv/ann/work\nWhy it asks: the stub wants it" Allow once [allow_once], Allow exactly this in this session [allow_always], Deny [reject_once]
  answered: Allow once
  usage: (15758, 7, 475000, 15765) None
  tool cfe254 failed: 'not finished'
  stopped
> [Agent: house]

[User's current message - respond to this:]
STUB:slow=60
  started: id=True model='gpt-6.2-sol' version='0.171.0'
  stopped
> [Agent: house]

[User's current message - respond to this:]
STUB:hang
  started: id=True model='gpt-6.2-sol' version='0.171.0'
  stopped
> [Agent: house]

[User's current message - respond to this:]
STUB:bash=touch /srv/ann/work/never;;
  started: id=True model='gpt-6.2-sol' version='0.171.0'
  tool e65488: shell 'touch /srv/ann/work/never'
  asks: 'shell: touch /srv/ann/work/never' "/bin/bash -lc 'touch /srv/ann/work/never'\nin /srv/ann/work\nWhy it asks: the stub wants it" Allow once [allow_once], Allow exactly this in this session [allow_always], Deny [reject_once]
  usage: (16304, 7, 475000, 16311) None
  asks no more
  tool e65488 failed: 'not finished'
  stopped
> [Agent: house]

[User's current message - respond to this:]
STUB:say=still here;;
  started: id=True model='gpt-6.2-sol' version='0.171.0'
  text: 'still here'
  usage: (16564, 7, 475000, 16571) None
  finished
