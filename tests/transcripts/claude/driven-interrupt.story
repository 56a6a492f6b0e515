ready: resumed=False version='2.1.332' model='' id=False
> STUB:slow=50
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  text: 'chunk0 chunk1 chunk2 chunk3 chunk4 '
  usage: (23213, 9, 200000, 23213) 0.069774
  stopped
> STUB:bash=/usr/bin/python3 -c 'import time; time.sleep(77)';;
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  text: 'I will call a tool. '
  tool b00183: Bash "/usr/bin/python3 -c 'import time; time.sleep(77)'"
  tool b00183 failed: "The user doesn't want to proceed with this tool use. The tool use was rejected ("
  usage: (23314, 7, 200000, 23314) 0.070047
  stopped
