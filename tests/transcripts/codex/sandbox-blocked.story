ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> STUB:tool touch /outside/z; echo rc=$?
  started: id=True model='gpt-5.5' version='0.171.0'
  text: 'Let me run that.'
  tool l_12_0: shell 'touch /outside/z; echo rc=$?'
  tool l_12_0 ok: "touch: cannot touch '/outside/z': Read-only file system\nrc=1\n"
  text: "\n\nTOOL-RESULT: Chunk ID: 2418cb\nWall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 18\nOutput:\ntouch: cannot touch '/outside/z': Read-only file system\nrc=1"
  usage: (225, 14, 258400, 120) None
  finished
