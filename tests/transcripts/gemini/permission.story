ready: resumed=False version='gemini-cli 0.61.0' model='gemini-2.5-pro' id=True
> STUB:bash=touch made-by-allow;;
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  tool 8139_0: execute 'touch made-by-allow'
  asks: 'touch made-by-allow' 'touch made-by-allow\n[current working directory $CWD]' Allow for this session [allow_always], Allow [allow_once], Reject [reject_once]
  answered: Allow
  tool 8139_0 ok: ''
  text: 'tool said: {"output": "<untrusted_context>\\nOutput: (empty)\\nProcess Group PGID: 14591\\n</untrusted_context>"}'
  usage: (24261, 14, None, None) None
  finished
> STUB:bash=touch made-by-reject;;
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  tool 8575_0: execute 'touch made-by-reject'
  asks: 'touch made-by-reject' 'touch made-by-reject\n[current working directory $CWD]' Allow for this session [allow_always], Allow [allow_once], Reject [reject_once]
  answered: Reject
  text: 'tool said: {"error": "Tool \\"run_shell_command\\" was canceled by the user."}'
  usage: (24572, 14, None, None) None
  tool 8575_0 failed: ''
  finished
> STUB:bash=touch made-by-cancelled;;
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  tool 8642_0: execute 'touch made-by-cancelled'
  asks: 'touch made-by-cancelled' 'touch made-by-cancelled\n[current working directory $CWD]' Allow for this session [allow_always], Allow [allow_once], Reject [reject_once]
  answered: Reject
  text: 'tool said: {"error": "Tool \\"run_shell_command\\" was canceled by the user."}'
  usage: (24861, 14, None, None) None
  tool 8642_0 failed: ''
  finished
> STUB:bash=touch never;;
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  tool 8715_0: execute 'touch never'
  asks: 'touch never' 'touch never\n[current working directory $CWD]' Allow for this session [allow_always], Allow [allow_once], Reject [reject_once]
  asks no more
  answered: Reject
  tool 8715_0 failed: 'not finished'
  stopped
> STUB:bash=touch always1;;
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  tool 1217_0: execute 'touch always1'
  asks: 'touch always1' 'touch always1\n[current working directory $CWD]' Allow for this session [allow_always], Allow [allow_once], Reject [reject_once]
  answered: Allow for this session
  tool 1217_0 ok: ''
  text: 'tool said: {"output": "<untrusted_context>\\nOutput: (empty)\\nProcess Group PGID: 14612\\n</untrusted_context>"}'
  usage: (25264, 14, None, None) None
  finished
> STUB:bash=touch always2;;
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  tool 1315_0: execute 'touch always2'
  tool 1315_0 ok: ''
  text: 'tool said: {"output": "<untrusted_context>\\nOutput: (empty)\\nProcess Group PGID: 14619\\n</untrusted_context>"}'
  usage: (25578, 14, None, None) None
  finished
