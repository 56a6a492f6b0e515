ready: resumed=False version='1.6.0' model='stub/stub-model' id=True
> [Agent: house]

[User's current message - respond to this:]
STUB:bash=touch begun && sleep 300;;
  started: id=True model='stub/stub-model' version='1.6.0'
  text: 'I will call a tool. '
  tool _stub1: bash 'touch begun && sleep 300'
  tool _stub1 failed: 'Command aborted'
  usage: (1383, 7, 128000, 1390) 0.001397
  stopped
> [Agent: house]

[User's current message - respond to this:]
STUB:say=still here;;
  started: id=True model='stub/stub-model' version='1.6.0'
  text: 'still here'
  usage: (1485, 7, 128000, 1492) 0.001499
  finished
