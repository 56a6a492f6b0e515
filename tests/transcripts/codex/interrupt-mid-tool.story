ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> STUB:tool sleep 777.25986
  started: id=True model='gpt-5.5' version='0.171.0'
  text: 'Let me run that.'
  tool l_20_0: shell 'sleep 777.25986'
  usage: (120, 7, 258400, 127) None
  tool l_20_0 failed: 'not finished'
  stopped
