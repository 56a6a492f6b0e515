ready: resumed=True version='1.6.0' model='stub/stub-model' id=True
> [Agent: house]

[User's current message - respond to this:]
STUB:say=resumed;;
  started: id=True model='stub/stub-model' version='1.6.0'
  text: 'resumed'
  usage: (1428, 7, 128000, 1435) 0.001442
  finished
