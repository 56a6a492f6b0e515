ready: resumed=False version='' model='p/m' id=True
> STUB:u2028 and in prompt: a b
  started: id=True model='p/m' version=''
  text: 'line\u2028sep para\u2029sep nel\x85 emoji 😀 é end'
  usage: (116, 7, None, 123) 0.00012
  finished
