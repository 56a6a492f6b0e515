ready: resumed=False version='2.1.332' model='' id=False
> STUB:tool=AskUserQuestion {"questions": [{"question": "Which colour?", "header": "C", "multiSelect":
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  text: 'I will call a tool. '
  tool b00195: AskUserQuestion ''
  asks: 'Which colour?' 'Red: r\nBlue: b' Red [answer], Blue [answer] or own words
  answered: Blue
  asks: 'And size?' '' S [answer], L [answer] or own words
  answered: L
  tool b00195 ok: 'Your questions have been answered: "Which colour?"="Blue", "And size?"="L". You '
  text: '\n\ntool said: Your questions have been answered: "Which colour?"="Blue", "And size?"="L". You can now continue with these answers in mind.'
  usage: (46827, 40, 200000, 23516) 0.141081
  finished
> STUB:tool=AskUserQuestion {"questions": [{"question": "Which colour?", "header": "C", "multiSelect":
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  text: 'I will call a tool. '
  tool b00197: AskUserQuestion ''
  asks: 'Which colour?' 'Red: r\nBlue: b' Red [answer], Blue [answer] or own words
  asks no more
  tool b00197 failed: "The user doesn't want to proceed with this tool use. The tool use was rejected ("
  usage: (23715, 7, 200000, 23715) 0.07125
  stopped
