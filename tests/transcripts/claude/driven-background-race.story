ready: resumed=False version='2.1.332' model='' id=False
> STUB:tool=Bash {"command": "/usr/bin/python3 -c 'import time; time.sleep(1)'; echo done-bg", "run_in
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  text: 'I will call a tool. '
  tool b00198: Bash "/usr/bin/python3 -c 'import time; time.sleep(1)'; echo done-bg"
works in the background
  tool b00198 ok: 'Command running in background with ID: b6odi7kkj. Output is being written to: /t'
  text: '\n\ntool said: Command running in background with ID: b6odi7kkj. Output is being written to: /tmp/claude-0/-tmp-tmpumrs-uee-cwd/90b330eb-ac02-4288-8ae9-092b61f9fc44/tasks/b6odi7kkj.output. You will be notified when '
  usage: (46687, 59, 200000, 23439) 0.140946
  finished
works no more in the background
works in the background
> STUB:slow=3
unsolicited: 'echo: (reminders only) ry>Background command "bg" completed (exit code 0)</summary>\n</task-notification>\n</system-reminder>'
works no more in the background
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  text: 'chunk0 chunk1 chunk2 '
  usage: (23834, 7, 200000, 23834) 0.071607
  finished
