ready: resumed=False version='' model='p/m' id=True
> STUB:slow 12 100
  started: id=True model='p/m' version=''
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
  text: 'tick 0 tick 1 tick 2 tick 3 tick 4 tick 5 tick 6 tick 7 tick 8 tick 9 tick 10 tick 11 \n\nOK 9: steer text\n\nOK 10: follow text\n\nOK 11: follow two'
  usage: (438, 28, None, 118) 0.000454
  finished
skipped: an answer to nothing that was asked
