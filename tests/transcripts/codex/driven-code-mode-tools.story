ready: resumed=False version='0.171.0' model='gpt-6.2-sol' id=True
> [Agent: house]

[User's current message - respond to this:]
STUB:write=/srv/ann/work/made.txt;;
  started: id=True model='gpt-6.2-sol' version='0.171.0'
  tool 8ff6fc: edit '/srv/ann/work/made.txt'
  asks: 'edit: add /srv/ann/work/made.txt' 'add /srv/ann/work/made.txt\nwritten by stub\n' Allow once [allow_once], Allow exactly this in this session [allow_always], Deny [reject_once]
  answered: Allow once
  tool 8ff6fc ok: 'add /srv/ann/work/made.txt\nwritten by stub\n'
  text: 'tool said: Script completed\nWall time 0.3 seconds\nOutput:\n\n{}'
  usage: (31639, 14, 475000, 15892) None
  finished
> [Agent: house]

[User's current message - respond to this:]
STUB:bash=echo hi;;
  started: id=True model='gpt-6.2-sol' version='0.171.0'
  tool be0992: shell 'echo hi'
  asks: 'shell: echo hi' "/bin/bash -lc 'echo hi'\nin /srv/ann/work\nWhy it asks: the stub wants it" Allow once [allow_once], Allow exactly this in this session [allow_always], Deny [reject_once]
  answered: denied
  tool be0992 failed: 'declined'
  text: 'tool said: Script failed\nWall time 0.1 seconds\nOutput:\n\nScript error:\nexec_command failed: CreateProcess { message: "Rejected(\\"rejected by user\\")" }'
  usage: (32142, 14, 475000, 16159) None
  finished
> [Agent: house]

[User's current message - respond to this:]
STUB:bash=echo always;;
  started: id=True model='gpt-6.2-sol' version='0.171.0'
  tool 9ed2b4: shell 'echo always'
  asks: 'shell: echo always' "/bin/bash -lc 'echo always'\nin /srv/ann/work\nWhy it asks: the stub wants it" Allow once [allow_once], Allow exactly this in this session [allow_always], Deny [reject_once]
  answered: Allow exactly this in this session
  tool 9ed2b4 ok: 'always\n'
  text: 'tool said: Script completed\nWall time 0.1 seconds\nOutput:\n\n{"chunk_id":"c874df","wall_time_seconds":0.000034655,"exit_code":0,"original_token_count":2,"output":"always\\n"}'
  usage: (32740, 14, 475000, 16463) None
  finished
> [Agent: house]

[User's current message - respond to this:]
STUB:bash=echo always;;
  started: id=True model='gpt-6.2-sol' version='0.171.0'
  tool 3e3347: shell 'echo always'
  tool 3e3347 ok: 'always\n'
  text: 'tool said: Script completed\nWall time 0.1 seconds\nOutput:\n\n{"chunk_id":"2aa5fb","wall_time_seconds":0.000032361,"exit_code":0,"original_token_count":2,"output":"always\\n"}'
  usage: (33366, 14, 475000, 16776) None
  finished
