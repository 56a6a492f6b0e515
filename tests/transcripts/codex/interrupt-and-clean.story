ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> STUB:tool sleep 888.1326
  started: id=True model='gpt-5.5' version='0.171.0'
  text: 'Let me run that.'
  tool ll_1_0: shell 'sleep 888.1326'
  usage: (101, 7, 258400, 108) None
  tool ll_1_0 failed: 'not finished'
  stopped
