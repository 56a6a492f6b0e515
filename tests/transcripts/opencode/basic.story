ready: resumed=False version='OpenCode 1.18.33' model='' id=True
> hello one
  started: id=True model='' version='OpenCode 1.18.33'
  text: 'echo: hello one'
  usage: (None, None, 100000, 7770) 0.0
  finished
> STUB:think
  started: id=True model='' version='OpenCode 1.18.33'
  thinking: 'let me think about it'
  text: 'thought and done'
  usage: (None, None, 100000, 7794) 0.0
  finished
> STUB:slow=5
  started: id=True model='' version='OpenCode 1.18.33'
  text: 'chunk0 chunk1 chunk2 chunk3 chunk4 '
  usage: (None, None, 100000, 7830) 0.0
  finished
> STUB:bash=echo hi-from-bash;;
  started: id=True model='' version='OpenCode 1.18.33'
  tool tub177: execute 'bash'
  tool tub177: execute 'echo hi-from-bash'
  asks: 'echo hi-from-bash' 'command: echo hi-from-bash' Allow once [allow_once], Always allow [allow_always], Reject [reject_once]
  answered: Allow once
  tool tub177 ok: 'hi-from-bash\n'
  text: 'tool said: hi-from-bash\n'
  usage: (None, None, 100000, 7928) 0.0
  finished
> STUB:write=$CWD/w1.txt;;
  started: id=True model='' version='OpenCode 1.18.33'
  tool tub179: edit 'write'
  tool tub179: edit '$CWD/w1.txt'
  asks: '$CWD/w1.txt' 'filepath: $CWD/w1.txt\ndiff: Index: $CWD/w1.txt\n===================================================================\n--- $CWD/w1.txt\n+++ $CWD/w1.txt\n@@ -0,0 +1,1 @@\n+written by stub\n\n$CWD/w1.txt\n- \n+ written by stub\n' Allow once [allow_once], Always allow [allow_always], Reject [reject_once]
  answered: Allow once
skipped: request 'fs/write_text_file'
  tool tub179: edit '$LAB/cwd/opencode/w1.txt'
  tool tub179 ok: 'Wrote file successfully.'
  text: 'tool said: Wrote file successfully.'
  usage: (None, None, 100000, 8045) 0.0
  finished
