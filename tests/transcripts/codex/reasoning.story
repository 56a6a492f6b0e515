ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> STUB:reason
  started: id=True model='gpt-5.5' version='0.171.0'
  thinking: '**Thinking** '
  thinking: 'about '
  thinking: 'the '
  thinking: 'answer '
  thinking: 'step '
  thinking: 'by '
  thinking: 'step. '
  text: 'after thinking'
  usage: (113, 7, 258400, 120) None
  finished
