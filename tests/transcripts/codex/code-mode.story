ready: resumed=False version='0.171.0' model='gpt-6.2-sol' id=True
> STUB:tool echo from-code-mode; sleep 1
  started: id=True model='gpt-6.2-sol' version='0.171.0'
  text: 'Let me run that.'
  tool bb53fd: shell 'echo from-code-mode; sleep 1'
  asks: 'shell: echo from-code-mode; sleep 1' "/bin/bash -lc 'echo from-code-mode; sleep 1'\nin $CWD" Allow once [allow_once], Allow exactly this in this session [allow_always], Deny [reject_once]
  answered: Allow once
  tool bb53fd ok: 'from-code-mode\n'
  text: '\n\nTOOL-RESULT: Script completed\nWall time 1.1 seconds\nOutput:\n\n{"chunk_id":"ecf8d5","wall_time_seconds":0.873608037,"exit_code":0,"original_token_count":4,"output":"from-code-mode\\n"}'
  usage: (211, 14, 475000, 113) None
  finished
