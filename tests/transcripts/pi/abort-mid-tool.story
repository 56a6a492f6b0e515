ready: resumed=False version='' model='p/m' id=True
> STUB:tool sleep 555.26237
  started: id=True model='p/m' version=''
  text: 'Let me run that.'
  tool l_14_0: bash 'sleep 555.26237'
  tool l_14_0 failed: 'Command aborted'
  usage: (114, 7, None, 121) 0.000118
  stopped
