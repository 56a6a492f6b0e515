ready: resumed=False version='hermes-agent 0.19.0' model='custom:stub-model' id=True
> hello one
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  text: 'echo: hello one'
  usage: (None, None, 100000, 10354) None
  finished
> STUB:think
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  thinking: 'let me think about it'
  text: 'thought and done'
  usage: (None, None, 100000, 10416) None
  finished
> STUB:slow=5
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  text: 'chunk0 chunk1 chunk2 chunk3 chunk4 '
  usage: (None, None, 100000, 10466) None
  finished
> STUB:bash=echo hi-from-bash;;
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  tool 2116f0: execute 'terminal: echo hi-from-bash'
  tool 2116f0 ok: 'terminal result\n- **output:** hi-from-bash\n- **exit_code:** 0'
  text: '\n\ntool said: {"output": "hi-from-bash", "exit_code": 0, "error": null}'
  usage: (None, None, 100000, 10655) None
  finished
> STUB:write=$CWD/w1.txt;;
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  tool a9a989: edit 'write: $CWD/w1.txt'
  tool a9a989: edit 'Approve edit: $CWD/w1.txt'
  asks: 'Approve edit: $CWD/w1.txt' 'tool: write_file\narguments: {\n  "path": "$CWD/w1.txt",\n  "content": "written by stub\\n"\n}\n$CWD/w1.txt\n- null\n+ written by stub\n' Allow edit [allow_once], Deny [reject_once]
  answered: Allow edit
  text: '\n\ntool said: {"bytes_written": 16, "dirs_created": true, "lint": {"status": "skipped", "message": "No linter for .txt files"}, "resolved_path": "/$LAB/cwd/hermes/w1.txt", "files_modified": ["$PATH'
  usage: (None, None, 100000, 10937) None
  tool a9a989 ok: ''
  finished
