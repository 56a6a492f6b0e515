ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> msg 0
  started: id=True model='gpt-5.5' version='0.171.0'
  text: 'OK 9: msg 0'
  usage: (109, 7, 258400, 116) None
  finished
> msg 1
  started: id=True model='gpt-5.5' version='0.171.0'
  compacted
  text: 'OK 11: msg 1'
  usage: (221, 14, 258400, 118) None
  finished
> msg 2
  started: id=True model='gpt-5.5' version='0.171.0'
  compacted
  text: 'OK 13: msg 2'
  usage: (225, 14, 258400, 120) None
  finished
