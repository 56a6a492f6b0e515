ready: resumed=False version='gemini-cli 0.61.0' model='gemini-2.5-pro' id=True
> STUB:slow=60
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  text: 'chunk0 chunk1 chunk2 chunk3 chunk4 chunk5 chunk6 chunk7 chunk8 chunk9 '
  stopped
> after cancel
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  text: 'echo: after cancel'
  usage: (12068, 7, None, None) None
  finished
> STUB:bash=/usr/bin/python3 -c 'import time; time.sleep(33)';;
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  tool 6215_0: execute "/usr/bin/python3 -c 'import time; time.sleep(33)'"
  asks: "/usr/bin/python3 -c 'import time; time.sleep(33)'" "/usr/bin/python3 -c 'import time; time.sleep(33)'\n[current working directory $CWD]" Allow for this session [allow_always], Allow [allow_once], Reject [reject_once]
  answered: Allow
  tool 6215_0 ok: 'Command cancelled by user.'
  stopped
> after tool cancel
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  text: 'echo: after tool cancel'
  usage: (12173, 7, None, None) None
  finished
> after idle cancel
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  text: 'echo: after idle cancel'
  usage: (12205, 7, None, None) None
  finished
