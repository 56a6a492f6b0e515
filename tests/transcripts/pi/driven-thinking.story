ready: resumed=False version='1.6.0' model='stub/stub-model' id=True
> [Agent: house]

[User's current message - respond to this:]
STUB:think
  started: id=True model='stub/stub-model' version='1.6.0'
  thinking: 'let me think about it'
  text: 'thought and done'
  usage: (1376, 7, 128000, 1383) 0.00139
  finished
