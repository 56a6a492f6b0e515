ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> STUB:u2028
  started: id=True model='gpt-5.5' version='0.171.0'
  text: 'line\u2028sep para\u2029sep nel\x85 emoji 😀 é end'
  usage: (114, 7, 258400, 121) None
  finished
