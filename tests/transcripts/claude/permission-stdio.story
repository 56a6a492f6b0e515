ready: resumed=False version='' model='' id=False
> STUB:bash=touch made-by-allow;;
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  text: 'I will call a tool. '
  tool b00023: Bash 'touch made-by-allow'
  asks: 'Bash: touch made-by-allow' 'command: touch made-by-allow' Allow once [allow_once], Allow Bash(touch made-by-allow *) in this session [allow_always], Deny [reject_once]
  answered: Allow once
  tool b00023 ok: '(Bash completed with no output)'
  text: '\n\ntool said: (Bash completed with no output)'
  usage: (46555, 17, 200000, 23333) 0.13992
  finished
> STUB:bash=touch made-by-deny;;
  started: id=True model='claude-sonnet-4-5' version=''
  text: 'I will call a tool. '
  tool b00025: Bash 'touch made-by-deny'
  asks: 'Bash: touch made-by-deny' 'command: touch made-by-deny' Allow once [allow_once], Allow Bash(touch made-by-deny *) in this session [allow_always], Deny [reject_once]
  answered: Deny
  tool b00025 failed: 'human said no'
  text: '\n\ntool said: human said no'
  usage: (46930, 13, 200000, 23518) 0.140985
  finished
> STUB:bash=touch made-by-deny2;;
  started: id=True model='claude-sonnet-4-5' version=''
  text: 'I will call a tool. '
  tool b00027: Bash 'touch made-by-deny2'
  asks: 'Bash: touch made-by-deny2' 'command: touch made-by-deny2' Allow once [allow_once], Allow Bash(touch made-by-deny2 *) in this session [allow_always], Deny [reject_once]
  answered: Deny
  tool b00027 failed: "The user doesn't want to proceed with this tool use. The tool use was rejected ("
  usage: (23593, 7, 200000, 23593) 0.070884
  stopped
> STUB:bash=touch orig;;
  started: id=True model='claude-sonnet-4-5' version=''
  text: 'I will call a tool. '
  tool b00028: Bash 'touch orig'
  asks: 'Bash: touch orig' 'command: touch orig' Allow once [allow_once], Allow Bash(touch orig *) in this session [allow_always], Deny [reject_once]
  answered: Allow once
  tool b00028 ok: '(Bash completed with no output)'
  text: '\n\ntool said: (Bash completed with no output)'
  usage: (47790, 17, 200000, 24007) 0.143625
  finished
> STUB:bash=touch noupd;;
  started: id=True model='claude-sonnet-4-5' version=''
  text: 'I will call a tool. '
  tool b00030: Bash 'touch noupd'
  asks: 'Bash: touch noupd' 'command: touch noupd' Allow once [allow_once], Allow Bash(touch noupd *) in this session [allow_always], Deny [reject_once]
  answered: Allow once
  tool b00030 ok: '(Bash completed with no output)'
  text: '\n\ntool said: (Bash completed with no output)'
  usage: (48279, 17, 200000, 24194) 0.145092
  finished
> STUB:write=$CWD/w1.txt;;
  started: id=True model='claude-sonnet-4-5' version=''
  text: 'I will call a tool. '
  tool b00032: Write '$CWD/w1.txt'
  asks: 'Write: $CWD/w1.txt' 'file_path: $CWD/w1.txt\ncontent: written by stub\n' Allow once [allow_once], Allow all that mode 'acceptEdits' allows in this session [allow_always], Deny [reject_once]
  answered: Allow once
  tool b00032 ok: 'File created successfully at: $CWD/w1.txt (file state is current in your context'
  text: '\n\ntool said: File created successfully at: $CWD/w1.txt (file state is current in your context — no need to Read it back)'
  usage: (48697, 41, 200000, 24420) 0.146706
  finished
> STUB:write=$CWD/w2.txt;;
  started: id=True model='claude-sonnet-4-5' version=''
  text: 'I will call a tool. '
  tool b00034: Write '$CWD/w2.txt'
  tool b00034 ok: 'File created successfully at: $CWD/w2.txt (file state is current in your context'
  text: '\n\ntool said: File created successfully at: $CWD/w2.txt (file state is current in your context — no need to Read it back)'
  usage: (49201, 41, 200000, 24672) 0.148218
  finished
> STUB:bash=/usr/bin/python3 -c 1;;
  started: id=True model='claude-sonnet-4-5' version=''
  text: 'I will call a tool. '
  tool b00036: Bash '/usr/bin/python3 -c 1'
  asks: 'Bash: /usr/bin/python3 -c 1' 'command: /usr/bin/python3 -c 1\n\nWhy it asks: This command requires approval' Allow once [allow_once], Allow Bash(/usr/bin/python3 -c 1) in this session [allow_always], Deny [reject_once]
  asks no more
  tool b00036 failed: "The user doesn't want to proceed with this tool use. The tool use was rejected ("
  usage: (24901, 7, 200000, 24901) 0.074808
  stopped
> STUB:bash=/usr/bin/python3 -c 2;;
  started: id=True model='claude-sonnet-4-5' version=''
  text: 'I will call a tool. '
  tool b00037: Bash '/usr/bin/python3 -c 2'
  asks: 'Bash: /usr/bin/python3 -c 2' 'command: /usr/bin/python3 -c 2\n\nWhy it asks: This command requires approval' Allow once [allow_once], Allow Bash(/usr/bin/python3 -c 2) in this session [allow_always], Deny [reject_once]
  answered: Deny
  tool b00037 failed: 'Tool permission request failed: Error: host broke'
  text: '\n\ntool said: Tool permission request failed: Error: host broke'
  usage: (50303, 22, 200000, 25209) 0.151239
  finished
