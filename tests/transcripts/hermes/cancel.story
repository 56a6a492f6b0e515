ready: resumed=False version='hermes-agent 0.19.0' model='custom:stub-model' id=True
> STUB:slow=60
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  text: 'chunk0 chunk1 chunk2 chunk3 chunk4 chunk5 '
  usage: (None, None, 100000, 10350) None
  stopped
lost: protocol: The agent keeps no session over a stop.
> after cancel
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  text: 'echo: after cancel'
  usage: (None, None, 100000, 10397) None
  finished
> STUB:bash=/usr/bin/python3 -c 'import time; time.sleep(33)';;
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  tool 440524: execute "terminal: /usr/bin/python3 -c 'import time; time.sleep(33)'"
  tool 440524: execute "/usr/bin/python3 -c 'import time; time.sleep(33)'"
  asks: "script execution via -e/-c flag: /usr/bin/python3 -c 'import time; time.sleep(33)'" "command: /usr/bin/python3 -c 'import time; time.sleep(33)'\ndescription: script execution via -e/-c flag\nscript execution via -e/-c flag\n$ /usr/bin/python3 -c 'import time; time.sleep(33)'" Allow once [allow_once], Allow for session [allow_always], Allow always [allow_always], Deny [reject_once], Deny always [reject_always]
  answered: Allow once
  tool 440524 failed: 'not finished'
  stopped
lost: protocol: The agent answered the stop with an error.
> after tool cancel
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  failed: protocol: The agent reported an error (it is busy with a turn that is over: Queued for the next turn. (1 queued)). (session lost)
> after idle cancel
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  failed: protocol: The agent reported an error (it is busy with a turn that is over: Queued for the next turn. (2 queued)). (session lost)
