ready: resumed=False version='' model='p/m' id=True
> STUB:tool echo hi-$((6*7)); sleep 0.4; echo bye
  started: id=True model='p/m' version=''
  text: 'Let me run that.'
  tool ll_1_0: bash 'echo hi-$((6*7)); sleep 0.4; echo bye'
  tool ll_1_0 ok: 'hi-42\nbye\n'
  text: '\n\nTOOL-RESULT: hi-42\nbye'
  usage: (203, 14, None, 109) 0.000211
  finished
