ready: resumed=False version='gemini-cli 0.61.0' model='gemini-2.5-pro' id=True
> hello one
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  text: 'echo: hello one'
  usage: (12067, 7, None, None) None
  finished
> STUB:think
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  thinking: '**Thinking**\nlet me think about it'
  text: 'thought and done'
  usage: (12095, 7, None, None) None
  finished
> STUB:slow=5
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  text: 'chunk0 chunk1 chunk2 chunk3 chunk4 '
  usage: (12124, 7, None, None) None
  finished
> STUB:bash=echo hi-from-bash;;
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  tool 4546_0: execute 'echo hi-from-bash'
  tool 4546_0 ok: ''
  text: 'tool said: {"output": "<untrusted_context>\\nOutput: hi-from-bash\\nProcess Group PGID: 14527\\n</untrusted_context>"}'
  usage: (24438, 14, None, None) None
  finished
> STUB:write=$CWD/w1.txt;;
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  tool 4722_0: edit 'Writing to w1.txt'
  asks: 'Writing to w1.txt' 'Writing to w1.txt\n$CWD/w1.txt\n- written by stub\n\n+ written by stub\n' Allow for this session [allow_always], Allow [allow_once], Reject [reject_once]
  answered: Allow
  tool 4722_0 ok: ''
  text: 'tool said: {"output": "Successfully overwrote file: $CWDemini/w1.txt. Here is the updated code:\\nwritten by stub\\n"}'
  usage: (24779, 14, None, None) None
  finished
