ready: resumed=False version='' model='p/m' id=True
> STUB:slow 50 100
  started: id=True model='p/m' version=''
  text: 'tick 0 tick 1 tick 2 tick 3 tick 4 tick 5 '
  stopped
> after abort
  started: id=True model='p/m' version=''
  text: 'OK 13: after abort'
  usage: (113, 7, None, 120) 0.000117
  finished
skipped: an answer to nothing that was asked
