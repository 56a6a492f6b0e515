ready: resumed=True version='0.171.0' model='gpt-6.2-sol' id=True
> [Agent: house]

[User's current message - respond to this:]
STUB:say=resumed;;
  started: id=True model='gpt-6.2-sol' version='0.171.0'
  text: 'resumed'
  usage: (15846, 7, 475000, 15853) None
  finished
