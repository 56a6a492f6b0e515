ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> STUB:call request_user_input {"questions": [{"id": "q1", "header": "Colour", "question": "Which colo
  started: id=True model='gpt-5.5' version='0.171.0'
  asks: 'Which colour?' 'Red (Recommended): r\nBlue: b' Red (Recommended) [answer], Blue [answer] or own words
  answered: Blue
  text: 'TOOL-RESULT: {"answers":{"q1":{"answers":["Blue"]}}}'
  usage: (203, 14, 258400, 109) None
  finished
