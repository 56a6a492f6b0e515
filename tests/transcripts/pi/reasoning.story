ready: resumed=False version='' model='p/m' id=True
> STUB:reason
  started: id=True model='p/m' version=''
  thinking: '**Thinking** '
  thinking: 'about '
  thinking: 'the '
  thinking: 'answer '
  thinking: 'step '
  thinking: 'by '
  thinking: 'step. '
  text: 'after thinking'
  usage: (107, 7, None, 114) 0.000111
  finished
