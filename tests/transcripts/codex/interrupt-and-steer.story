ready: resumed=False version='0.171.0' model='stub-model' id=True
> STUB:slow 50 200
  started: id=True model='stub-model' version='0.171.0'
  text: 'tick 0 tick 1 tick 2 tick 3 tick 4 tick 5 '
  stopped
> STUB:slow 8 200
  started: id=True model='stub-model' version='0.171.0'
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
  text: 'tick 0 \n\nOK 5: second start'
  usage: (105, 7, 258400, 112) None
  finished: 'OK 5: second start'
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
