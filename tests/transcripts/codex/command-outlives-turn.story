ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> STUB:tool sleep 14; echo done
  started: id=True model='gpt-5.5' version='0.171.0'
  text: 'Let me run that.'
  tool ll_4_0: shell 'sleep 14; echo done'
  text: '\n\nTOOL-RESULT: Chunk ID: b49843\nWall time: 10.0008 seconds\nProcess running with session ID 42240\nOriginal token count: 0\nOutput:'
  usage: (209, 14, 258400, 112) None
  tool ll_4_0 failed: 'not finished'
  finished
