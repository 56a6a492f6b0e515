ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
skipped: an answer to nothing that was asked
> STUB:slow 10 100
  started: id=True model='gpt-5.5' version='0.171.0'
skipped: an answer to nothing that was asked
  text: 'tick 0 tick 1 tick 2 tick 3 tick 4 tick 5 tick 6 tick 7 tick 8 tick 9 '
  usage: (109, 7, 258400, 116) None
  finished
