ready: resumed=False version='' model='' id=False
> STUB:tool=Bash {"command":"/usr/bin/python3 -c 'import time; time.sleep(2)'; echo done-bg","run_in_b
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  text: 'I will call a tool. '
  tool b00125: Bash "/usr/bin/python3 -c 'import time; time.sleep(2)'; echo done-bg"
works in the background
  tool b00125 ok: 'Command running in background with ID: bgjzm43zn. Output is being written to: $T'
  text: '\n\ntool said: Command running in background with ID: bgjzm43zn. Output is being written to: $TMP/claude-UID/-CWD/d5ed3ee0-fa4e-4d33-a7d3-d1ae9ed50018/tasks/bgjzm43zn.output. You will be notifi'
  usage: (44492, 59, 200000, 22343) 0.134361
  finished
works no more in the background
works in the background
unsolicited: 'echo: (reminders only) ry>Background command "bg" completed (exit code 0)</summary>\n</task-notification>\n</system-reminder>'
works no more in the background
