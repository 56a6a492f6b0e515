ready: resumed=False version='0.171.0' model='stub-model' id=True
> STUB:tool echo hi-$((6*7)); sleep 0.3; echo bye
  started: id=True model='stub-model' version='0.171.0'
  text: 'Let me run that.'
  tool ll_3_0: shell 'echo hi-$((6*7)); sleep 0.3; echo bye'
  asks: 'shell: echo hi-$((6*7)); sleep 0.3; echo bye' "/bin/bash -lc 'echo hi-$((6*7)); sleep 0.3; echo bye'\nin $CWD" Allow once [allow_once], Allow exactly this in this session [allow_always], Deny [reject_once]
  answered: Allow once
  tool ll_3_0 ok: 'hi-42\nbye\n'
  text: '\n\nTOOL-RESULT: Chunk ID: 337de2\nWall time: 0.1814 seconds\nProcess exited with code 0\nOriginal token count: 3\nOutput:\nhi-42\nbye'
  usage: (207, 14, 258400, 111) None
  finished
