ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> STUB:failed context_length_exceeded
  started: id=True model='gpt-5.5' version='0.171.0'
  usage: (None, None, 258400, 258400) None
  failed: context: The conversation is too long for the model (Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying).
> after error
  started: id=True model='gpt-5.5' version='0.171.0'
  compacted
  text: 'OK 16: after error'
  usage: (231, 14, 258400, 123) None
  finished
