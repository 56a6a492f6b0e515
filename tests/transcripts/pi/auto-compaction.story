ready: resumed=False version='' model='p/m' id=True
> message 0 word word word word word word word word word word word word word word word word word word 
  started: id=True model='p/m' version=''
  text: 'OK 21: message 0 word word word word word word word word word word '
  usage: (121, 7, None, 128) 0.000125
  finished
> message 1 word word word word word word word word word word word word word word word word word word 
  started: id=True model='p/m' version=''
  text: 'OK 22: message 1 word word word word word word word word word word '
  compacted
  usage: (122, 7, None, 129) 0.000126
  finished
> message 2 word word word word word word word word word word word word word word word word word word 
  started: id=True model='p/m' version=''
  text: 'OK 24: message 2 word word word word word word word word word word '
  compacted
  usage: (124, 7, None, 131) 0.000128
  finished
