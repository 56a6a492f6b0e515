ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> STUB:tool touch b1
  started: id=True model='gpt-5.5' version='0.171.0'
  text: 'Let me run that.'
  tool l_27_0: shell 'touch b1'
  asks: 'shell: touch b1' "/bin/bash -lc 'touch b1'\nin $CWD" Allow once [allow_once], Allow exactly this in this session [allow_always], Deny [reject_once]
  usage: (127, 7, 258400, 134) None
  asks no more
  tool l_27_0 failed: 'not finished'
  stopped
  answered: Allow once
