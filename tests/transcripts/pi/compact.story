ready: resumed=False version='' model='p/m' id=True
> message 0 word word word word word word word word word word word word word word word word word word 
  started: id=True model='p/m' version=''
  text: 'OK 15: message 0 word word word word word word word word word word '
  usage: (115, 7, None, 122) 0.000119
  finished
> message 1 word word word word word word word word word word word word word word word word word word 
  started: id=True model='p/m' version=''
  text: 'OK 16: message 1 word word word word word word word word word word '
  usage: (116, 7, None, 123) 0.00012
  finished
> message 2 word word word word word word word word word word word word word word word word word word 
  started: id=True model='p/m' version=''
  text: 'OK 17: message 2 word word word word word word word word word word '
  usage: (117, 7, None, 124) 0.000121
  finished
> message 3 word word word word word word word word word word word word word word word word word word 
  started: id=True model='p/m' version=''
  text: 'OK 18: message 3 word word word word word word word word word word '
  usage: (118, 7, None, 125) 0.000122
  finished
outside a turn: Compacted
skipped: an answer to nothing that was asked
> after
  started: id=True model='p/m' version=''
  text: 'OK 20: after'
  usage: (120, 7, None, 127) 0.000124
  finished
