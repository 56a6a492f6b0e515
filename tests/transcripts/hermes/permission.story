ready: resumed=False version='hermes-agent 0.19.0' model='custom:stub-model' id=True
> STUB:bash=touch made-by-allow;;
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  tool 570324: execute 'terminal: touch made-by-allow'
  tool 570324 ok: 'terminal result\n- **exit_code:** 0'
  text: '\n\ntool said: {"output": "", "exit_code": 0, "error": null}'
  usage: (None, None, 100000, 10492) None
  finished
> STUB:bash=touch made-by-reject;;
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  tool 8d3b7b: execute 'terminal: touch made-by-reject'
  tool 8d3b7b ok: 'terminal result\n- **exit_code:** 0'
  text: '\n\ntool said: {"output": "", "exit_code": 0, "error": null}'
  usage: (None, None, 100000, 10676) None
  finished
> STUB:bash=touch made-by-cancelled;;
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  tool 7ad892: execute 'terminal: touch made-by-cancelled'
  tool 7ad892 ok: 'terminal result\n- **exit_code:** 0'
  text: '\n\ntool said: {"output": "", "exit_code": 0, "error": null}'
  usage: (None, None, 100000, 10862) None
  finished
> STUB:bash=touch never;;
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  tool abc655: execute 'terminal: touch never'
  tool abc655 ok: 'terminal result\n- **exit_code:** 0'
  text: '\n\ntool said: {"output": "", "exit_code": 0, "error": null}'
  usage: (None, None, 100000, 11042) None
  finished
> STUB:bash=touch always1;;
  started: id=True model='' version=''
  failed: protocol: The agent reported an error (Internal error: 'NoneType' object has no attribute 'startswith'). (session lost)
> STUB:bash=touch always2;;
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  failed: protocol: The agent reported an error (it is busy with a turn that is over: Queued for the next turn. (1 queued)). (session lost)
