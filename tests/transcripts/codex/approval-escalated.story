ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> STUB:call exec_command {"cmd": "touch /outside/y", "sandbox_permissions": "require_escalated", "just
  started: id=True model='gpt-5.5' version='0.171.0'
  tool ll_8_0: shell 'touch /outside/y'
  asks: 'shell: touch /outside/y' "/bin/bash -lc 'touch /outside/y'\nin $CWD\nWhy it asks: need to write outside" Allow once [allow_once], Allow exactly this in this session [allow_always], Deny [reject_once]
  answered: Allow once
  tool ll_8_0 ok: 'completed'
  text: 'TOOL-RESULT: Chunk ID: 884807\nWall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 0\nOutput:'
  usage: (217, 14, 258400, 116) None
  finished
