ready: resumed=False version='' model='p/m' id=True
> /ask now
  started: id=True model='' version=''
  asks: 'Pick one' '' A [answer], B [answer], No answer [reject_once]
  answered: B
  asks: 'Sure?' 'really' Allow once [allow_once], Deny [reject_once]
  answered: Allow once
  asks: 'Name' 'placeholder' No answer [reject_once] or own words
  answered: typed
  finished
> STUB:tool echo allowed
  started: id=True model='p/m' version=''
  text: 'Let me run that.'
  tool l_16_0: bash 'echo allowed'
  asks: 'Allow command?' 'echo allowed' Allow once [allow_once], Deny [reject_once]
  answered: Allow once
  tool l_16_0 ok: 'allowed\n'
  text: '\n\nTOOL-RESULT: allowed'
  usage: (233, 14, None, 124) 0.000241
  finished
> STUB:tool echo denied
  started: id=True model='p/m' version=''
  text: 'Let me run that.'
  tool l_18_0: bash 'echo denied'
  asks: 'Allow command?' 'echo denied' Allow once [allow_once], Deny [reject_once]
  answered: denied
  tool l_18_0 failed: 'denied by user'
  text: '\n\nTOOL-RESULT: denied by user'
  usage: (237, 14, None, 126) 0.000245
  finished
> STUB:tool echo x
  started: id=True model='p/m' version=''
  text: 'Let me run that.'
  tool l_20_0: bash 'echo x'
  asks: 'Allow command?' 'echo x' Allow once [allow_once], Deny [reject_once]
  answered: denied
  tool l_20_0 failed: 'denied by user'
  text: '\n\nTOOL-RESULT: denied by user'
  usage: (241, 14, None, 128) 0.000249
  finished
> STUB:tool echo never
  started: id=True model='p/m' version=''
  text: 'Let me run that.'
  tool l_22_0: bash 'echo never'
  asks: 'Allow command?' 'echo never' Allow once [allow_once], Deny [reject_once]
  asks no more
