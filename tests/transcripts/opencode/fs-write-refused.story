ready: resumed=False version='OpenCode 1.18.33' model='' id=True
> STUB:write=$CWD/refused.txt;;
  started: id=True model='' version='OpenCode 1.18.33'
  tool tub477: edit 'write'
  tool tub477: edit '$CWD/refused.txt'
  asks: '$CWD/refused.txt' 'filepath: $CWD/refused.txt\ndiff: Index: $CWD/refused.txt\n===================================================================\n--- $CWD/refused.txt\n+++ $CWD/refused.txt\n@@ -0,0 +1,1 @@\n+written by stub\n\n$CWD/refused.txt\n- \n+ written by stub\n' Allow once [allow_once], Always allow [allow_always], Reject [reject_once]
  answered: Allow once
skipped: request 'fs/write_text_file'
  tool tub477: edit '$LAB/cwd/opencode/refused.txt'
  tool tub477 ok: 'Wrote file successfully.'
  text: 'tool said: Wrote file successfully.'
  usage: (None, None, 100000, 7863) 0.0
  finished
