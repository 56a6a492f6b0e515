ready: resumed=False version='0.171.0' model='stub-model' id=True
> STUB:tool echo hi-$((6*7)); sleep 0.3; echo bye
  started: id=True model='stub-model' version='0.171.0'
  text: 'Let me run that.'
  tool ll_5_0: shell 'echo hi-$((6*7)); sleep 0.3; echo bye'
  asks: 'shell: echo hi-$((6*7)); sleep 0.3; echo bye' "/bin/bash -lc 'echo hi-$((6*7)); sleep 0.3; echo bye'\nin $CWD" Allow once [allow_once], Allow exactly this in this session [allow_always], Deny [reject_once]
  answered: Deny
  tool ll_5_0 failed: 'declined'
  text: '\n\nTOOL-RESULT: exec_command failed: CreateProcess { message: "Rejected(\\"rejected by user\\")" }'
  usage: (211, 14, 258400, 113) None
  finished
