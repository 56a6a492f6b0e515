ready: resumed=False version='Copilot 1.0.102' model='' id=True
> hello one
  started: id=True model='' version='Copilot 1.0.102'
  text: 'echo: hello one'
  usage: (None, None, 128000, 8671) None
  finished
> STUB:think
  started: id=True model='' version='Copilot 1.0.102'
  thinking: 'let me think about it'
  text: 'thought and done'
  usage: (None, None, 128000, 8712) None
  finished
> STUB:slow=5
  started: id=True model='' version='Copilot 1.0.102'
  text: 'chunk0 chunk1 chunk2 chunk3 chunk4 '
  usage: (None, None, 128000, 8755) None
  finished
> STUB:bash=echo hi-from-bash;;
  started: id=True model='' version='Copilot 1.0.102'
  tool _stub5: execute 'echo hi-from-bash'
  asks: 'stub' 'command: echo hi-from-bash\ncommands: [\n  "echo hi-from-bash"\n]' Allow once [allow_once], Always allow [allow_always], Deny [reject_once]
  answered: Allow once
  tool _stub5 ok: 'hi-from-bash\n<shellId: 0 completed with exit code 0>'
  text: 'tool said: hi-from-bash\n<shellId: 0 completed with exit code 0>'
  usage: (None, None, 128000, 8836) None
  finished
> STUB:write=$CWD/w1.txt;;
  started: id=True model='' version='Copilot 1.0.102'
  tool _stub7: edit '$CWD/w1.txt'
  tool _stub7: edit 'Create file'
  asks: 'Create file' 'fileName: $CWD/w1.txt\ndiff: \ndiff --git a$CWD/w1.txt b$CWD/w1.txt\ncreate file mode 100644\nindex 0000000..0000000\n--- a/dev/null\n+++ b$CWD/w1.txt\n@@ -1,0 +1,1 @@\n+written by stub\n\n$CWD/w1.txt\n- \n+ written by stub\n' Allow once [allow_once], Always allow [allow_always], Deny [reject_once]
  answered: Allow once
  tool _stub7 ok: ''
  text: 'tool said: Created file $CWDot/w1.txt with 16 characters'
  usage: (None, None, 128000, 8925) None
  finished
